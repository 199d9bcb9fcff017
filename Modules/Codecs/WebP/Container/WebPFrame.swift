import AlcedoCore
import CWebP

/// A still image or a frame of an animation, without its pixels.
struct WebPFrame: Sendable {
    /// The byte range that libwebp decodes. It starts at the header of the alpha chunk, or of the image's chunk if no
    /// alpha chunk belongs to it. Its last bytes may not have arrived.
    var bitstream: Range<Int>
    /// The bytes of ``bitstream`` without the alpha chunk; nil when it has none.
    var opaqueBitstream: Range<Int>?
    /// The area of the canvas that the pixels fill. It lies within the canvas.
    var area: PixelRect
    var delay = Duration.zero
    /// Whether the frame's area becomes transparent before the next frame.
    var isCleared = false
    /// Whether the pixels are blended over the canvas instead of replacing it.
    var isBlended = false
    /// Whether an alpha chunk belongs to the image, or its lossless bitstream declares alpha. Lossless pixels may have
    /// alpha without the declaration. Source: RFC 9649 section 3.4.
    var declaresAlpha: Bool
    var isLossless: Bool

    /// Creates the frame from the data of a container and a bitstream.
    ///
    /// - Parameters:
    ///   - bitstream: The byte range of the pixels.
    ///   - area: The area from the container, or `nil` for an image in a file without a canvas.
    ///   - canvas: The size of the canvas, or `nil` for a file without a canvas.
    ///   - bytes: All bytes of the file received so far.
    /// - Returns: `nil` when the header of the bitstream has not arrived.
    /// - Throws: `corrupt` when the size of the pixels differs from the declared size, or the area exceeds the canvas.
    ///   Also the errors of an invalid bitstream header.
    private init?(
        bitstream: Bitstream, area: PixelRect?, canvas: PixelSize?, _ bytes: UnsafeBufferPointer<UInt8>
    ) throws(ImageDecodingError) {
        let (bitstream, opaque) = (bitstream.range, bitstream.opaqueRange)
        let isWhole = bitstream.upperBound <= bytes.count
        let received = bytes[bitstream.clamped(to: 0..<bytes.count)]
        guard let header = try WebPHeader(UnsafeBufferPointer(rebasing: received), isWhole: isWhole) else { return nil }
        let area = area ?? PixelRect(x: 0, y: 0, width: header.size.width, height: header.size.height)
        guard area.size == header.size, area.clipped(to: canvas ?? area.size) == area else {
            throw ImageDecodingError(
                .corrupt, "WebP: the frame is outside the canvas or has another size than declared")
        }
        self.bitstream = bitstream
        opaqueBitstream = opaque
        self.area = area
        declaresAlpha = header.declaresAlpha
        isLossless = header.isLossless
    }

    /// The damage of a frame that is opaque because its alpha cannot be decoded.
    static let alphaDamage = ImageDamage(
        .wrongPixels, ImageDecodingError(.corrupt, "WebP: the alpha is damaged"))

    /// The frame without its alpha chunk; nil when it has none.
    var withoutAlpha: WebPFrame? {
        guard let opaqueBitstream else { return nil }
        var frame = self
        frame.bitstream = opaqueBitstream
        frame.opaqueBitstream = nil
        frame.declaresAlpha = false
        return frame
    }

    /// Returns the received part of the frame's pixels.
    func bytes(in bytes: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: bytes[bitstream.clamped(to: 0..<bytes.count)])
    }
}

extension WebPFrame {
    /// Creates the frame of a still image, or returns `nil` when its header has not arrived. `alphaStart` is the offset
    /// of the alpha chunk before the image, if there is one.
    init?(
        image: RIFFChunk, alphaStart: Int?, canvas: PixelSize?, _ bytes: UnsafeBufferPointer<UInt8>
    ) throws(ImageDecodingError) {
        let area = canvas.map { PixelRect(x: 0, y: 0, width: $0.width, height: $0.height) }
        try self.init(bitstream: Self.range(image, alphaStart), area: area, canvas: canvas, bytes)
    }

    /// Creates the frame of a complete `ANMF` chunk. Source: RFC 9649 section 2.7.1.1.
    init(
        animation chunk: RIFFChunk, canvas: PixelSize, _ bytes: UnsafeBufferPointer<UInt8>
    ) throws(ImageDecodingError) {
        let start = chunk.payload.lowerBound
        guard chunk.payload.count >= 16 else {
            throw ImageDecodingError(.corrupt, "WebP: a frame header is too short")
        }
        let area = PixelRect(
            x: 2 * bytes.number(at: start, bytes: 3), y: 2 * bytes.number(at: start + 3, bytes: 3),
            width: bytes.number(at: start + 6, bytes: 3) + 1, height: bytes.number(at: start + 9, bytes: 3) + 1)
        let image = try Self.image(in: start + 16..<chunk.payload.upperBound, bytes)
        guard let frame = try WebPFrame(bitstream: image, area: area, canvas: canvas, bytes) else {
            throw ImageDecodingError(.truncated, "WebP: the bitstream header of a frame is missing")
        }
        self = frame
        delay = .milliseconds(bytes.number(at: start + 12, bytes: 3))
        let flags = bytes[start + 15]
        isCleared = flags & 1 != 0
        isBlended = flags & 2 == 0
    }

    private static func image(
        in range: Range<Int>, _ bytes: UnsafeBufferPointer<UInt8>
    ) throws(ImageDecodingError) -> Bitstream {
        var chunks = RIFFChunks(in: range)
        var alphaStart: Int?
        while let part = try chunks.current(bytes) {
            switch part.id {
            case "ALPH" where alphaStart == nil: alphaStart = part.start
            case "VP8 ", "VP8L": return Self.range(part, alphaStart)
            default: break
            }
            chunks.skip(part)
        }
        throw ImageDecodingError(.corrupt, "WebP: a frame has no image")
    }

    private static func range(_ image: RIFFChunk, _ alphaStart: Int?) -> Bitstream {
        let opaque = image.start..<image.payload.upperBound
        // An alpha chunk belongs only to lossy pixels.
        guard image.id == "VP8 ", let alphaStart else { return Bitstream(range: opaque) }
        return Bitstream(range: alphaStart..<image.payload.upperBound, opaqueRange: opaque)
    }

    /// The byte ranges of the pixels, with and without an alpha chunk.
    private struct Bitstream {
        var range: Range<Int>
        var opaqueRange: Range<Int>?
    }
}

private struct WebPHeader {
    let size: PixelSize
    let declaresAlpha: Bool
    let isLossless: Bool

    /// Reads the header of an image's chunk, or of an alpha chunk and an image's chunk. Returns `nil` when more bytes
    /// are needed and may arrive. `isWhole` states whether these are all bytes of the image.
    init?(_ bytes: UnsafeBufferPointer<UInt8>, isWhole: Bool) throws(ImageDecodingError) {
        var features = WebPBitstreamFeatures()
        let status = WebPGetFeatures(bytes.baseAddress, bytes.count, &features)
        if status == VP8_STATUS_NOT_ENOUGH_DATA, !isWhole { return nil }
        guard status == VP8_STATUS_OK else { throw ImageDecodingError(libwebp: status) }
        size = PixelSize(width: Int(features.width), height: Int(features.height))
        declaresAlpha = features.has_alpha != 0
        isLossless = features.format == 2
    }
}

extension ImageDecodingError {
    /// Creates the error for a status of libwebp. `status` must not be the success status.
    init(libwebp status: VP8StatusCode) {
        switch status {
        case VP8_STATUS_OUT_OF_MEMORY: self.init(.outOfMemory, "WebP: cannot decode: out of memory")
        case VP8_STATUS_UNSUPPORTED_FEATURE:
            self.init(.unsupportedVariant, "WebP: the bitstream uses an unknown feature")
        case VP8_STATUS_SUSPENDED, VP8_STATUS_NOT_ENOUGH_DATA:
            self.init(.truncated, "WebP: the bitstream is truncated")
        default: self.init(.corrupt, "WebP: the bitstream is corrupt")
        }
    }
}
