import AlcedoCore

/// What the chunks of a WebP file say: where everything is, without a look at the pixels.
///
/// Source: WebP container specification; RFC 9649 section 2.
struct WebPContainer {
    /// Set by files of the extended format only.
    private(set) var canvas: PixelSize?
    private(set) var declaresAlpha = false
    private(set) var isAnimated = false
    private(set) var frameCount = 0
    private(set) var profile: Range<Int>?
    private(set) var exif: Range<Int>?
    /// Always there once `init` has returned.
    private var frame: WebPFrame?

    /// - Throws: ``ImageDecodingError``: `truncated` when the file announces more bytes than there are.
    init(_ bytes: UnsafeBufferPointer<UInt8>, limits: DecodingLimits) throws(ImageDecodingError) {
        var chunks = RIFFChunks(bytes, in: try Self.content(of: bytes))
        guard let first = try chunks.next() else {
            throw ImageDecodingError(.corrupt, "WebP: there is no chunk")
        }
        switch first.id {
        case "VP8 ", "VP8L":
            frame = WebPFrame(bitstream: first.whole)
            frameCount = 1
        case "VP8X":
            try readExtendedHeader(first, bytes)
            try readChunks(&chunks, bytes, limits: limits)
        case let id where id.hasPrefix("VP8"):
            throw ImageDecodingError(.unsupportedVariant, "WebP: \(id.debugDescription) is no known bitstream")
        default:
            throw ImageDecodingError(.corrupt, "WebP: the file begins with no image")
        }
    }

    /// The image, or the first frame of the animation.
    func firstFrame() throws(ImageDecodingError) -> WebPFrame {
        guard let frame else { throw ImageDecodingError(.corrupt, "WebP: there is no image") }
        return frame
    }

    /// Where the chunks are. Bytes after the RIFF file do not count.
    private static func content(of bytes: UnsafeBufferPointer<UInt8>) throws(ImageDecodingError) -> Range<Int> {
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
            throw ImageDecodingError(.truncated, "WebP: \(bytes.count) of \(end) bytes are there")
        }
        return 12..<end
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
            case "ICCP" where profile == nil: profile = chunk.payload
            case "EXIF" where exif == nil: exif = chunk.payload
            case "ANMF" where isAnimated:
                guard frameCount < limits.maximumFrameCount else {
                    throw ImageDecodingError(
                        .exceedsLimit, "WebP: there are more than \(limits.maximumFrameCount) frames")
                }
                if frame == nil { frame = try WebPFrame(animation: chunk, bytes) }
                frameCount += 1
            case "ALPH" where !isAnimated && alpha == nil: alpha = chunk
            case "VP8 ", "VP8L":
                guard !isAnimated, frame == nil else { continue }
                frame = WebPFrame(image: chunk, alpha: alpha)
                frameCount = 1
            default: continue
            }
        }
    }
}
