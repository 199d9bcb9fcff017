import AlcedoCore

/// Where one frame lies, in the file and on the canvas, and how it is shown.
struct WebPFrame: Sendable {
    /// The pixels' chunk with its header, and an alpha chunk that belongs to it: what libwebp decodes.
    var bitstream: Range<Int>
    /// Where the pixels lie on the canvas.
    var area: PixelRect
    var delay = Duration.zero
    /// Whether the frame's place becomes transparent before the next frame.
    var isCleared = false
    /// Whether the pixels are laid over the canvas, or replace it.
    var isBlended = false
    /// Lossless data only hint at this: their pixels may have alpha all the same. RFC 9649 section 3.4.
    var declaresAlpha: Bool
    var isLossless: Bool

    /// - Parameter area: What the container says; nil for the only image of a file without a canvas.
    /// - Throws: `corrupt` when the pixels are of another size than announced, or leave the canvas.
    private init(
        bitstream: Range<Int>, area: PixelRect?, canvas: PixelSize?, _ bytes: UnsafeBufferPointer<UInt8>
    ) throws(ImageDecodingError) {
        let header = try WebPBitstream(UnsafeBufferPointer(rebasing: bytes[bitstream]))
        let whole = PixelRect(x: 0, y: 0, width: header.size.width, height: header.size.height)
        let area = area ?? whole
        guard area.size == header.size, area.clipped(to: canvas ?? area.size) == area else {
            throw ImageDecodingError(.corrupt, "WebP: the frame leaves its canvas or is not as large as announced")
        }
        self.bitstream = bitstream
        self.area = area
        declaresAlpha = header.declaresAlpha
        isLossless = header.isLossless
    }
}

extension WebPFrame {
    /// The only image of a file.
    init(
        image: RIFFChunk, alpha: RIFFChunk?, canvas: PixelSize?, _ bytes: UnsafeBufferPointer<UInt8>
    ) throws(ImageDecodingError) {
        let area = canvas.map { PixelRect(x: 0, y: 0, width: $0.width, height: $0.height) }
        try self.init(bitstream: Self.range(image, alpha), area: area, canvas: canvas, bytes)
    }

    /// Reads the header and the chunks of an `ANMF` chunk. Source: RFC 9649 section 2.7.1.1.
    init(
        animation chunk: RIFFChunk, canvas: PixelSize?, _ bytes: UnsafeBufferPointer<UInt8>
    ) throws(ImageDecodingError) {
        let start = chunk.payload.lowerBound
        guard chunk.payload.count >= 16 else {
            throw ImageDecodingError(.corrupt, "WebP: a frame's header is too short")
        }
        let area = PixelRect(
            x: 2 * bytes.number(at: start, bytes: 3), y: 2 * bytes.number(at: start + 3, bytes: 3),
            width: bytes.number(at: start + 6, bytes: 3) + 1, height: bytes.number(at: start + 9, bytes: 3) + 1)
        let image = try Self.image(in: start + 16..<chunk.payload.upperBound, bytes)
        try self.init(bitstream: image, area: area, canvas: canvas, bytes)
        delay = .milliseconds(bytes.number(at: start + 12, bytes: 3))
        let flags = bytes[start + 15]
        isCleared = flags & 1 != 0
        isBlended = flags & 2 == 0
    }

    private static func image(
        in range: Range<Int>, _ bytes: UnsafeBufferPointer<UInt8>
    ) throws(ImageDecodingError) -> Range<Int> {
        var chunks = RIFFChunks(bytes, in: range)
        var alpha: RIFFChunk?
        while let part = try chunks.next() {
            switch part.id {
            case "ALPH" where alpha == nil: alpha = part
            case "VP8 ", "VP8L": return Self.range(part, alpha)
            default: continue
            }
        }
        throw ImageDecodingError(.corrupt, "WebP: a frame has no image")
    }

    private static func range(_ image: RIFFChunk, _ alpha: RIFFChunk?) -> Range<Int> {
        // Alpha of its own belongs to lossy pixels only.
        let start = image.id == "VP8 " ? alpha?.start ?? image.start : image.start
        return start..<image.payload.upperBound
    }
}
