import AlcedoCore
import FoundationEssentials

/// Decodes one picture: a still image, or the one that an animation shows to programs that know no animations.
struct PNGStill {
    let file: PNGFile
    let reader: PNGReader
    let plan: PNGPlan

    /// - Throws: `exceedsLimit`.
    init(_ file: PNGFile, _ options: DecodingOptions) throws(ImageDecodingError) {
        self.file = file
        reader = file.reader
        plan = PNGPlan(file.reader.header, file.info, options)
        try plan.check()
    }

    /// Decodes the picture, or the part there is when that is allowed.
    static func decode(_ file: PNGFile, _ options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
        do throws(ImageDecodingError) {
            return try PNGStill(file, options).decode()
        } catch {
            guard error.code == .truncated || error.code == .corrupt else { throw error }
        }
        // Again from the beginning, by the reader that makes use of every byte there is: it finds the part, and names
        // the damage as it does when the bytes come in pieces.
        return try PNGGrowingPicture.part(of: file, options)
    }

    /// Decodes the whole picture. To be called once.
    func decode() throws(ImageDecodingError) -> DecodedImage {
        try plan.image(plan.streams && plan.reduction.factor > 1 ? try reduced() : try whole())
    }

    /// The stored rows, for a picture that need not be turned.
    var rows: PNGRowStream {
        PNGRowStream(reader: reader, plan: plan) {
            var options = plan.options
            options.target = nil
            options.appliesOrientation = false
            options.allowsPartial = false
            return try PNGGrowingPicture.part(of: file, options).pixels
        }
    }

    private func reduced() throws(ImageDecodingError) -> PixelBuffer {
        let collector = PixelRowCollector()
        do {
            try rows.send(to: BoxReducer(plan.reduction, next: collector))
        } catch {
            throw error as? ImageDecodingError ?? ImageDecodingError(.corrupt, "\(error)")
        }
        guard let image = collector.image else { throw ImageDecodingError(.corrupt, "no picture was made") }
        return image.pixels
    }

    private func whole() throws(ImageDecodingError) -> PixelBuffer {
        try reader.start(plan.format, premultiplies: plan.premultiplies)
        var problem: ImageDecodingError?
        let pixels = PixelBuffer(size: plan.header.size, format: plan.format, alphaMode: plan.alphaMode) {
            memory, stride in
            problem = reader.readAll(into: memory, stride: stride)
        }
        if let problem { throw problem }
        guard let pixels else {
            throw ImageDecodingError(.outOfMemory, "there is no memory for \(plan.header.size) pixels")
        }
        return plan.reduction.factor > 1 ? try pixels.reduced(by: plan.reduction) : pixels
    }
}

extension DecodingOptions {
    /// Whether a picture with this damage may be shown.
    func isPartAllowed(_ damage: ImageDecodingError) -> Bool {
        allowsPartial && (damage.code == .truncated || damage.code == .corrupt)
    }
}
