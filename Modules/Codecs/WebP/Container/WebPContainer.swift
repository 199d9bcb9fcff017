import AlcedoCore
import FoundationEssentials

/// What the chunks of a WebP file say: where everything is, without a look at the pixels.
///
/// Reads as far as there are bytes, and goes on when there are more: every chunk is looked at once, however the bytes
/// come. The caller passes all bytes so far each time. Source: RFC 9649 section 2.
struct WebPContainer: Sendable {
    private let limits: DecodingLimits
    private var end: Int?
    private var chunks = RIFFChunks(in: 0..<0)
    private var isSimple = false
    private var declaresAlpha = false
    private var declaresEXIF = false
    private var alphaStart: Int?
    private var metadataByteCount = 0

    /// nil until the header is complete.
    private(set) var canvas: PixelSize?
    private(set) var isAnimated = false
    /// Those whose last byte has been seen.
    private(set) var frames: [WebPFrame] = []
    /// The still image whose pixels are arriving.
    private(set) var arriving: WebPFrame?
    /// As the file says it: how often the animation plays; 0 for ever.
    private(set) var loopCount: Int?
    private(set) var metadata = ImageMetadata()
    /// Whether the file's last byte has been seen.
    private(set) var isComplete = false

    init(limits: DecodingLimits) { self.limits = limits }

    /// The image, finished or not, or the first frame that has come as a whole.
    var firstFrame: WebPFrame? { frames.first ?? arriving }

    var orientation: ImageOrientation {
        metadata.exif?.withUnsafeBytes { ImageOrientation(exif: $0.bytes) } ?? .up
    }

    /// Whether nothing can come that changes the orientation: EXIF lies behind the pixels.
    var isOrientationKnown: Bool { isComplete || !declaresEXIF || metadata.exif != nil }

    /// nil before ``firstFrame``.
    var info: ImageInfo? {
        guard let canvas, let first = firstFrame else { return nil }
        let hasAlpha = declaresAlpha || first.area.size != canvas || ([first] + frames).contains { $0.declaresAlpha }
        let lossless: ColorModel = hasAlpha ? .rgba : .rgb
        return ImageInfo(
            format: .webp, size: canvas, orientation: orientation, hasAlpha: hasAlpha,
            colorModel: first.isLossless ? lossless : .yCbCr, frameCount: max(1, frames.count), loopCount: loopCount,
            delays: frames.count > 1 ? frames.map(\.delay) : [], metadata: metadata)
    }

    /// Reads on.
    mutating func advance(_ bytes: UnsafeBufferPointer<UInt8>) throws(ImageDecodingError) {
        guard let end = try readFileHeader(bytes) else { return }
        while let chunk = try chunks.current(bytes) {
            guard try take(chunk, bytes) else { return }
            chunks.skip(chunk)
        }
        isComplete = chunks.isAtEnd && bytes.count >= end
    }

    /// Throws `truncated`, or `corrupt` for a file without an image, unless the file's last byte has been seen. Bytes
    /// after it do not count.
    func requireEnd() throws(ImageDecodingError) {
        guard isComplete else { throw ImageDecodingError(.truncated, "WebP: the bytes end before the file does") }
        guard !frames.isEmpty else { throw ImageDecodingError(.corrupt, "WebP: there is no image") }
    }

    /// Where the file ends; nil when its header has not come yet.
    private mutating func readFileHeader(_ bytes: UnsafeBufferPointer<UInt8>) throws(ImageDecodingError) -> Int? {
        if let end { return end }
        guard "RIFF".utf8.starts(with: bytes.prefix(4)), "WEBP".utf8.starts(with: bytes.dropFirst(8).prefix(4)) else {
            throw ImageDecodingError(.corrupt, "the bytes are not a WebP")
        }
        guard bytes.count >= 12 else { return nil }
        let announced = 8 + bytes.number(at: 4, bytes: 4)
        guard announced >= 12 + 8 else { throw ImageDecodingError(.corrupt, "WebP: there is no chunk") }
        chunks = RIFFChunks(in: 12..<announced)
        end = announced
        return announced
    }

    /// Takes a chunk; false when more of its bytes are needed.
    private mutating func take(
        _ chunk: RIFFChunk, _ bytes: UnsafeBufferPointer<UInt8>
    ) throws(ImageDecodingError) -> Bool {
        if chunk.start == 12 { return try takeFirst(chunk, bytes) }
        // A file of the simple format has one chunk; what follows it means nothing.
        guard !isSimple else { return true }
        let isThere = chunk.isThere(in: bytes)
        switch chunk.id {
        case "ICCP", "EXIF", "XMP ":
            guard chunk.payload.count <= limits.maximumChunkByteCount else { return true }
            if isThere { keep(chunk, bytes) }
            return isThere
        case "ANIM" where isAnimated && loopCount == nil:
            guard chunk.payload.count >= 6 else {
                throw ImageDecodingError(.corrupt, "WebP: the animation's header is too short")
            }
            if isThere { loopCount = bytes.number(at: chunk.payload.lowerBound + 4, bytes: 2) }
            return isThere
        case "ANMF" where isAnimated: return try takeFrame(chunk, bytes)
        case "ALPH" where alphaStart == nil: alphaStart = chunk.start
        case "VP8 " where !isAnimated && frames.isEmpty, "VP8L" where !isAnimated && frames.isEmpty:
            return try takeImage(chunk, bytes)
        default: break
        }
        return true
    }

    private mutating func takeFirst(
        _ chunk: RIFFChunk, _ bytes: UnsafeBufferPointer<UInt8>
    ) throws(ImageDecodingError) -> Bool {
        switch chunk.id {
        case "VP8 ", "VP8L":
            isSimple = true
            return try takeImage(chunk, bytes)
        case "VP8X":
            guard chunk.payload.count >= 10 else {
                throw ImageDecodingError(.corrupt, "WebP: the extended header is too short")
            }
            guard chunk.isThere(in: bytes) else { return false }
            let start = chunk.payload.lowerBound
            declaresAlpha = bytes[start] & 0x10 != 0
            declaresEXIF = bytes[start] & 0x08 != 0
            isAnimated = bytes[start] & 0x02 != 0
            let size = PixelSize(
                width: bytes.number(at: start + 4, bytes: 3) + 1, height: bytes.number(at: start + 7, bytes: 3) + 1)
            try limits.check(size, format: .rgba8)
            canvas = size
            return true
        case let id where id.hasPrefix("VP8"):
            throw ImageDecodingError(.unsupportedVariant, "WebP: \(id.debugDescription) is no known bitstream")
        default:
            throw ImageDecodingError(.corrupt, "WebP: the file begins with no image")
        }
    }

    private mutating func takeImage(
        _ chunk: RIFFChunk, _ bytes: UnsafeBufferPointer<UInt8>
    ) throws(ImageDecodingError) -> Bool {
        if arriving == nil {
            arriving = try WebPFrame(image: chunk, alphaStart: alphaStart, canvas: canvas, bytes)
            guard let arriving else { return false }
            try limits.check(arriving.area.size, format: .rgba8)
            canvas = arriving.area.size
        }
        guard chunk.isThere(in: bytes), let image = arriving else { return false }
        frames = [image]
        arriving = nil
        return true
    }

    private mutating func takeFrame(
        _ chunk: RIFFChunk, _ bytes: UnsafeBufferPointer<UInt8>
    ) throws(ImageDecodingError) -> Bool {
        // libwebp and browsers refuse such files too. Source: RFC 9649 section 2.7.1.1.
        guard let canvas, loopCount != nil else {
            throw ImageDecodingError(.corrupt, "WebP: a frame comes before the animation's header")
        }
        try limits.check(frameCount: frames.count + 1)
        guard chunk.isThere(in: bytes) else { return false }
        frames.append(try WebPFrame(animation: chunk, canvas: canvas, bytes))
        return true
    }

    /// Keeps metadata, the first of each kind, unless they are none or beyond the limits.
    private mutating func keep(_ chunk: RIFFChunk, _ bytes: UnsafeBufferPointer<UInt8>) {
        var payload = bytes[chunk.payload]
        // The chunk should begin with the TIFF header, but many writers copy what JPEG puts before it.
        if chunk.id == "EXIF", payload.starts(with: "Exif\0\0".utf8) { payload = payload.dropFirst(6) }
        guard !payload.isEmpty, payload.count <= limits.maximumMetadataByteCount - metadataByteCount else { return }
        switch chunk.id {
        case "ICCP" where metadata.colorProfile == nil: metadata.colorProfile = Data(payload)
        case "EXIF" where metadata.exif == nil: metadata.exif = Data(payload)
        case "XMP " where metadata.xmp == nil: metadata.xmp = Data(payload)
        default: return
        }
        metadataByteCount += payload.count
    }
}

extension WebPContainer {
    /// The animation of the frames so far; nil without frames.
    ///
    /// Frames on an empty canvas replace it, as libwebp's own player has it; its blending would round their colours.
    var layout: AnimationLayout? {
        guard let canvas, !frames.isEmpty else { return nil }
        var layout = AnimationLayout(canvas: canvas, frames: [], playCount: loopCount.map { $0 == 0 ? nil : $0 } ?? 1)
        var canvasIsEmpty = true
        for frame in frames {
            let isWhole = frame.area.size == canvas
            layout.frames.append(
                AnimationFrame(
                    area: frame.area, rawDelay: frame.delay, disposal: frame.isCleared ? .clear : .keep,
                    blend: frame.isBlended && !canvasIsEmpty ? .overAsLibwebp : .source,
                    isOpaque: !frame.declaresAlpha))
            canvasIsEmpty = frame.isCleared && (isWhole || canvasIsEmpty)
        }
        return layout
    }
}
