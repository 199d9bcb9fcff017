import AlcedoCore
import CWebP

/// An image that is decoded while its bytes arrive.
///
/// libwebp keeps the address of the pixels. They do not move, because the buffer is not shared before it is complete,
/// and libwebp does not access it afterwards.
final class WebPPartialImage {
    private let pixels: PixelBuffer
    private let memory: UnsafeMutableRawBufferPointer
    private let decoder: WebPRowDecoder

    /// Creates the memory and the decoder. libwebp scales the image when `size` differs from the size of the frame.
    ///
    /// - Throws: `outOfMemory`.
    init(_ frame: WebPFrame, size: PixelSize) throws(ImageDecodingError) {
        var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        // The memory is not initialized, because only rows that libwebp has written are returned.
        let pixels = PixelBuffer(size: size, format: .rgba8, alphaMode: .straight) { bytes, _ in memory = bytes }
        guard let pixels else { throw ImageDecodingError.noMemory(for: size) }
        self.pixels = pixels
        self.memory = memory
        decoder = try WebPRowDecoder(frame, size: size, into: memory, bytesPerRow: pixels.bytesPerRow)
    }

    var size: PixelSize { pixels.size }

    /// The number of finished rows from the top.
    var rowCount: Int { decoder.rowCount }

    /// Decodes as far as bytes are available. See ``WebPRowDecoder/advance(_:)``.
    func advance(_ bytes: UnsafeBufferPointer<UInt8>) throws(ImageDecodingError) { try decoder.advance(bytes) }

    /// Returns the whole image. Throws `truncated` when rows are missing, or the error of an earlier ``advance(_:)``.
    func finished() throws(ImageDecodingError) -> PixelBuffer {
        try decoder.requireComplete()
        return pixels
    }

    /// Returns a copy with the finished rows. The other rows are transparent.
    func copy() throws(ImageDecodingError) -> PixelBuffer {
        let end = rowCount * pixels.bytesPerRow
        let copy = PixelBuffer(size: size, format: .rgba8, alphaMode: .straight) { target, _ in
            target.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<end]))
            UnsafeMutableRawBufferPointer(rebasing: target[end...]).initializeMemory(as: UInt8.self, repeating: 0)
        }
        guard let copy else { throw ImageDecodingError.noMemory(for: size) }
        return copy
    }
}

extension WebPFrame {
    /// Decodes the frame, whose bytes must be complete, to straight RGBA8 of `size`.
    func pixels(
        _ bytes: UnsafeBufferPointer<UInt8>, size: PixelSize, _ settings: WebPSettings
    ) throws(ImageDecodingError) -> PixelBuffer {
        let bitstream = self.bytes(in: bytes)
        var status = VP8_STATUS_OK
        do {
            // The scope releases this buffer before incremental decoding allocates another one.
            let pixels = try PixelBuffer(size: size, format: .rgba8, alphaMode: .straight) {
                (memory, stride) throws(ImageDecodingError) in
                var config = try settings.configuration(from: area.size, to: size, memory, bytesPerRow: stride)
                status = WebPDecode(bitstream.baseAddress, bitstream.count, &config)
            }
            guard let pixels else { throw ImageDecodingError.noMemory(for: size) }
            if status == VP8_STATUS_OK { return pixels }
        }
        guard status != VP8_STATUS_OUT_OF_MEMORY else { throw ImageDecodingError(libwebp: status) }
        // libwebp reports damage differently for complete and for incremental input. The result of incremental decoding
        // decides, so that the error does not depend on how the bytes arrived.
        let partialImage = try WebPPartialImage(self, size: size)
        try partialImage.advance(bitstream)
        return try partialImage.finished()
    }
}
