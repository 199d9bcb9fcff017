import AlcedoCore
import FoundationEssentials

/// What the chunks of a WebP file say: where everything is, without a look at the pixels.
///
/// Source: RFC 9649 section 2.
struct WebPContainer: Sendable {
    private(set) var canvas: PixelSize
    private(set) var frames: [WebPFrame] = []
    /// As the file says it: how often the animation plays; 0 for ever.
    private(set) var loopCount: Int?
    private(set) var metadata = ImageMetadata()
    /// Why there may be more frames than these, when that was allowed.
    private(set) var damage: ImageDecodingError?
    private var declaresAlpha = false
    private var isAnimated = false
    private var metadataByteCount = 0

    /// - Parameter isLenient: Whether damage behind the first frame ends the list of frames instead of throwing.
    /// - Throws: ``ImageDecodingError``: `truncated` when the file announces more bytes than there are.
    init(
        _ bytes: UnsafeBufferPointer<UInt8>, limits: DecodingLimits, isLenient: Bool = false
    ) throws(ImageDecodingError) {
        canvas = PixelSize(width: 0, height: 0)
        let (content, cut) = try Self.content(of: bytes)
        if let cut, !isLenient { throw cut }
        do throws(ImageDecodingError) {
            try read(bytes, in: content, limits: limits)
            if let cut { throw cut }
        } catch {
            guard isLenient, isAnimated, !frames.isEmpty, error.code != .exceedsLimit else { throw cut ?? error }
            damage = cut ?? error
        }
    }

    var orientation: ImageOrientation { metadata.exif.map { ImageOrientation(exif: $0.bytes) } ?? .up }

    var info: ImageInfo {
        let hasAlpha = declaresAlpha || frames.contains { $0.declaresAlpha } || frames[0].area.size != canvas
        let lossless: ColorModel = hasAlpha ? .rgba : .rgb
        return ImageInfo(
            format: .webp, size: canvas, orientation: orientation, hasAlpha: hasAlpha,
            colorModel: frames[0].isLossless ? lossless : .yCbCr, frameCount: frames.count, loopCount: loopCount,
            delays: frames.count > 1 ? frames.map(\.delay) : [], metadata: metadata)
    }

    /// Frames on an empty canvas replace it, as libwebp's own player has it; its blending would round their colours.
    var layout: AnimationLayout {
        var layout = AnimationLayout(canvas: canvas, frames: [], playCount: loopCount == 0 ? nil : loopCount ?? 1)
        var canvasIsEmpty = true
        for frame in frames {
            layout.frames.append(
                AnimationFrame(
                    area: frame.area, rawDelay: frame.delay, disposal: frame.isCleared ? .clear : .keep,
                    blend: frame.isBlended && !canvasIsEmpty ? .overAsLibwebp : .source,
                    isOpaque: !frame.declaresAlpha))
            let hidesAll = frame.area.size == canvas && (!frame.isBlended || !frame.declaresAlpha)
            canvasIsEmpty = frame.isCleared && (frame.area.size == canvas || canvasIsEmpty || hidesAll)
        }
        return layout
    }

    /// Where the chunks are, and the error when the file announces more. Bytes after the RIFF file do not count.
    private static func content(
        of bytes: UnsafeBufferPointer<UInt8>
    ) throws(ImageDecodingError) -> (Range<Int>, cut: ImageDecodingError?) {
        let head = bytes.prefix(4)
        guard "RIFF".utf8.starts(with: head), bytes.count < 12 || bytes[8..<12].elementsEqual("WEBP".utf8) else {
            throw ImageDecodingError(.corrupt, "the bytes are not a WebP")
        }
        guard bytes.count >= 12 else {
            throw ImageDecodingError(.truncated, "WebP: the bytes end inside the header")
        }
        let end = 8 + bytes.number(at: 4, bytes: 4)
        guard end >= 12 else { throw ImageDecodingError(.corrupt, "WebP: the file claims to be empty") }
        guard end <= bytes.count else {
            return (12..<bytes.count, ImageDecodingError(.truncated, "WebP: \(bytes.count) of \(end) bytes are there"))
        }
        return (12..<end, nil)
    }

    private mutating func read(
        _ bytes: UnsafeBufferPointer<UInt8>, in content: Range<Int>, limits: DecodingLimits
    ) throws(ImageDecodingError) {
        var chunks = RIFFChunks(bytes, in: content)
        guard let first = try chunks.next() else {
            throw ImageDecodingError(.corrupt, "WebP: there is no chunk")
        }
        switch first.id {
        case "VP8 ", "VP8L":
            let frame = try WebPFrame(image: first, alpha: nil, canvas: nil, bytes)
            canvas = frame.area.size
            try limits.check(canvas, format: .rgba8)
            frames = [frame]
        case "VP8X":
            try readExtendedHeader(first, bytes)
            try limits.check(canvas, format: .rgba8)
            try readChunks(&chunks, bytes, limits: limits)
        case let id where id.hasPrefix("VP8"):
            throw ImageDecodingError(.unsupportedVariant, "WebP: \(id.debugDescription) is no known bitstream")
        default:
            throw ImageDecodingError(.corrupt, "WebP: the file begins with no image")
        }
        guard !frames.isEmpty else { throw ImageDecodingError(.corrupt, "WebP: there is no image") }
    }

    private mutating func readExtendedHeader(
        _ chunk: RIFFChunk, _ bytes: UnsafeBufferPointer<UInt8>
    ) throws(ImageDecodingError) {
        let start = chunk.payload.lowerBound
        guard chunk.payload.count >= 10 else {
            throw ImageDecodingError(.corrupt, "WebP: the extended header is too short")
        }
        declaresAlpha = bytes[start] & 0x10 != 0
        isAnimated = bytes[start] & 0x02 != 0
        canvas = PixelSize(
            width: bytes.number(at: start + 4, bytes: 3) + 1, height: bytes.number(at: start + 7, bytes: 3) + 1)
    }

    private mutating func readChunks(
        _ chunks: inout RIFFChunks, _ bytes: UnsafeBufferPointer<UInt8>, limits: DecodingLimits
    ) throws(ImageDecodingError) {
        var alpha: RIFFChunk?
        while let chunk = try chunks.next() {
            switch chunk.id {
            case "ICCP" where metadata.colorProfile == nil:
                metadata.colorProfile = kept(bytes[chunk.payload], limits)
            case "EXIF" where metadata.exif == nil:
                // The chunk should begin with the TIFF header, but many writers copy what JPEG puts before it.
                let prefix = Array("Exif\0\0".utf8)
                let exif = bytes[chunk.payload]
                metadata.exif = kept(exif.starts(with: prefix) ? exif.dropFirst(prefix.count) : exif, limits)
            case "XMP " where metadata.xmp == nil:
                metadata.xmp = kept(bytes[chunk.payload], limits)
            case "ANIM" where isAnimated && loopCount == nil && chunk.payload.count >= 6:
                loopCount = bytes.number(at: chunk.payload.lowerBound + 4, bytes: 2)
            case "ANMF" where isAnimated:
                try limits.check(frameCount: frames.count + 1)
                frames.append(try WebPFrame(animation: chunk, canvas: canvas, bytes))
            case "ALPH" where !isAnimated && alpha == nil: alpha = chunk
            case "VP8 " where !isAnimated && frames.isEmpty, "VP8L" where !isAnimated && frames.isEmpty:
                frames = [try WebPFrame(image: chunk, alpha: alpha, canvas: canvas, bytes)]
            default: continue
            }
        }
    }

    /// The bytes, unless they are none or beyond the limits.
    private mutating func kept(_ bytes: Slice<UnsafeBufferPointer<UInt8>>, _ limits: DecodingLimits) -> Data? {
        guard !bytes.isEmpty, bytes.count <= limits.maximumChunkByteCount,
            bytes.count <= limits.maximumMetadataByteCount - metadataByteCount
        else { return nil }
        metadataByteCount += bytes.count
        return Data(bytes)
    }
}
