import AlcedoCore
import FoundationEssentials

/// Decodes a PNG while its bytes arrive.
///
/// What comes before the pixels is kept until they begin. Pixels go to libpng and are not kept. An animation is kept whole:
/// its frames are made from its bytes, and a preview shows the picture that is not animated.
final class PNGIncrementalState: IncrementalDecodingState {
    private let options: DecodingOptions
    /// Everything, until the pixels begin; of an animation to the end.
    private var data = Data()
    /// Where the next chunk of `data` begins whose name was not seen yet.
    private var scanned = PNGChunk.signature.count
    /// What is decoded, when the header has come.
    private var plan: PNGPlan?
    /// There from the call on that follows the one with the header.
    private var partialImage: PNGPartialImage?
    private var isAnimation = false
    /// Bytes of an animation that the preview has seen.
    private var previewedByteCount = 0
    private(set) var info: ImageInfo?

    init(options: DecodingOptions) { self.options = options }

    var decodingByteCount: Int? { plan?.incrementalByteCount }

    func append(_ bytes: Data) throws(ImageDecodingError) {
        guard plan != nil else {
            data.append(bytes)
            if let pixels = try findPixels() { try readHeader(before: pixels) }
            return
        }
        guard !isAnimation else { return data.append(bytes) }
        try begin()
        try partialImage?.append(bytes)
    }

    func preview() throws(ImageDecodingError) -> ImagePreview? {
        try begin()
        if isAnimation, let partialImage {
            // Only somebody who wants to see it pays for it; damage is the business of the end.
            let new = data.dropFirst(previewedByteCount)
            previewedByteCount = data.count
            try partialImage.append(new)
        }
        return try partialImage?.preview()
    }

    func finish() throws(ImageDecodingError) -> DecodedImage {
        if !isAnimation { try begin() }
        guard let partialImage, !isAnimation else {
            self.partialImage = nil
            if isAnimation { info = try? PNGWholeImage.inspect(data, limits: options.limits) }
            return try PNGWholeImage.decode(data, options: options)
        }
        let image = try partialImage.finish()
        info = partialImage.info
        return image
    }

    /// Where the chunk with the first pixels begins; nil when it has not come. Looks at every chunk once.
    private func findPixels() throws(ImageDecodingError) -> Int? {
        try PNGChunk.checkSignature(data)
        return try data.withDecoderInput { bytes throws(ImageDecodingError) in
            while scanned <= bytes.count - PNGChunk.headerByteCount {
                let length = bytes.bigEndian(at: scanned)
                if UInt32(truncatingIfNeeded: bytes.bigEndian(at: scanned + 4)) == PNGChunk.Name.idat { return scanned }
                scanned += length + 12
            }
            return nil
        }
    }

    /// Reads what comes before the pixels, and allocates nothing for them.
    private func readHeader(before pixels: Int) throws(ImageDecodingError) {
        var stillOptions = options
        let (header, found, control) = try data.withDecoderInput { input throws(ImageDecodingError) in
            let file = try PNGFile(input.part(0..<pixels + PNGChunk.headerByteCount), limits: options.limits)
            return (file.reader.header, file.info, file.outline.animation)
        }
        isAnimation = control != nil
        if isAnimation {
            stillOptions.pixelFormat = .rgba8
            stillOptions.allowsPartial = true
        }
        let plan = PNGPlan(header, found, stillOptions)
        try plan.check()
        self.plan = plan
        info = found
    }

    /// Begins with the pixels, of whose first chunk the header has come, unless that was done before.
    private func begin() throws(ImageDecodingError) {
        guard partialImage == nil, let plan else { return }
        let bytes = data
        partialImage = try PNGPartialImage(plan, head: Data(bytes.prefix(scanned)))
        if isAnimation {
            previewedByteCount = scanned
        } else {
            data = Data()
            try partialImage?.append(bytes.dropFirst(scanned))
        }
    }
}
