import AlcedoCore
import FoundationEssentials

/// Decodes one picture: a still image, or the one that an animation shows to programs that know no animations.
struct PNGStill {
    let reader: PNGReader
    let plan: PNGPlan

    /// - Throws: `exceedsLimit`.
    init(_ file: PNGFile, _ options: DecodingOptions) throws(ImageDecodingError) {
        reader = file.reader
        plan = PNGPlan(file.reader.header, file.info, options)
        try options.limits.check(plan.header.size, format: plan.format)
    }

    /// To be called once. nil when it is a part, of which gray samples could not tell what is missing: decode again with
    /// ``PNGPlan/withAlphaChannel``.
    func decode() throws(ImageDecodingError) -> DecodedImage? {
        var damage: ImageDecodingError?
        let pixels = plan.streams && plan.reduction.factor > 1 ? try reduced(&damage) : try whole(&damage)
        guard damage != nil, isMissingRows else { return plan.image(pixels.relabelled(plan.alphaMode), damage: damage) }
        guard plan.format != .gray8 else { return nil }
        return plan.image(pixels.relabelled(plan.openAlphaMode), damage: damage)
    }

    private var isMissingRows: Bool {
        plan.header.isInterlaced || reader.rowCount < plan.header.size.height
    }

    private func reduced(_ damage: inout ImageDecodingError?) throws(ImageDecodingError) -> PixelBuffer {
        let collector = PixelRowCollector()
        do {
            damage = try PNGRowStream(reader: reader, plan: plan).send(
                to: BoxReducer(plan.reduction, next: collector))
        } catch {
            throw error as? ImageDecodingError ?? ImageDecodingError(.corrupt, "\(error)")
        }
        guard let image = collector.image else { throw ImageDecodingError(.corrupt, "no picture was made") }
        return image.pixels
    }

    private func whole(_ damage: inout ImageDecodingError?) throws(ImageDecodingError) -> PixelBuffer {
        try reader.start(plan.format, premultiplies: plan.premultiplies)
        let fills = plan.options.allowsPartial && plan.header.isInterlaced
        var problem: ImageDecodingError?
        let pixels = PixelBuffer(size: plan.header.size, format: plan.format, alphaMode: plan.openAlphaMode) {
            memory, stride in
            // What has not come of an interlaced picture may be anywhere.
            if fills { memory.initializeMemory(as: UInt8.self, repeating: 0) }
            problem = reader.readAll(into: memory, stride: stride, fills: fills)
            guard problem != nil, !plan.header.isInterlaced else { return }
            memory[min(memory.count, reader.rowCount * stride)...].initializeToZero()
        }
        if let problem, !plan.options.isPartAllowed(problem) || !reader.hasPixels { throw problem }
        damage = problem
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
