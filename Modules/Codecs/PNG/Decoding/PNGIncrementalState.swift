import AlcedoCore
import FoundationEssentials

/// The state of a PNG that is decoded while its bytes arrive.
///
/// The pixel bytes of a still image are not kept after they have been passed to libpng. All bytes of an animation are
/// kept, because its frames are decoded from them. The preview of an animation shows the still image.
final class PNGIncrementalState: IncrementalDecodingState {
    private let options: DecodingOptions
    /// The received bytes. For a still image, they are released when decoding of the pixels begins.
    private var data = Data()
    /// The offset in `data` of the first chunk whose name has not been read, or of the first chunk of pixels after its
    /// name has been read.
    private var scanned = PNGChunk.signature.count
    /// The plan for decoding; nil until everything before the pixels has arrived.
    private var plan: PNGPlan?
    /// The partial image, which `begin` creates.
    private var partialImage: PNGPartialImage?
    private var isAnimation = false
    /// Whether chunks of an animation without a valid `acTL` chunk precede the pixels.
    private var ignoresAnimation = false
    /// The number of bytes of an animation that were passed to the preview.
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
            // Pixels for previews are decoded on request, so callers without previews pay nothing. `finish` reports
            // damage.
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
            let file = try OpenedPNG(data, limits: options.limits)
            if isAnimation { info = try? file.info() }
            return try file.decode(options)
        }
        var image = try partialImage.finish()
        if ignoresAnimation || partialImage.hasAnimationChunks {
            image.damage = .worst(image.damage, PNGOutline.ignoredAnimation)
        }
        info = partialImage.info
        return image
    }

    /// Returns the offset of the first chunk of pixels, or nil when its header has not arrived. Reads each chunk header
    /// once.
    private func findPixels() throws(ImageDecodingError) -> Int? {
        try PNGChunk.checkSignature(data)
        return try data.withDecoderInput(of: "PNG") { bytes throws(ImageDecodingError) in
            while scanned <= bytes.count - PNGChunk.headerByteCount {
                let length = bytes.bigEndian(at: scanned)
                if UInt32(truncatingIfNeeded: bytes.bigEndian(at: scanned + 4)) == PNGChunk.Name.idat { return scanned }
                scanned += length + 12
            }
            return nil
        }
    }

    /// Reads everything that precedes the pixels. Allocates no memory for pixels.
    private func readHeader(before pixels: Int) throws(ImageDecodingError) {
        var stillOptions = options
        let (header, found, outline) = try data.withDecoderInput(of: "PNG") { input throws(ImageDecodingError) in
            let file = try PNGFile(input.part(0..<pixels + PNGChunk.headerByteCount), limits: options.limits)
            return (file.reader.header, file.info, file.outline)
        }
        isAnimation = outline.animation != nil
        ignoresAnimation = outline.ignoresAnimation
        if isAnimation {
            stillOptions.pixelFormat = .rgba8
            stillOptions.allowsPartial = true
        }
        let plan = PNGPlan(header, found, stillOptions)
        try plan.check()
        self.plan = plan
        info = found
    }

    /// Creates the partial image, and decodes the received pixels of a still image. Does nothing when the partial image
    /// exists or there is no plan.
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
