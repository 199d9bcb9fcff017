import AlcedoCore
import CWebP

/// A picture that is decoded while its bytes arrive.
///
/// libwebp keeps the address of the pixels. They stay where they are, because nobody else shares the buffer before it is
/// complete, and libwebp does not touch it any more then.
final class WebPPartialImage {
    private let pixels: PixelBuffer
    private let memory: UnsafeMutableRawBufferPointer
    private let decoder: WebPRowDecoder

    /// - Parameter size: That of the picture to make; libwebp scales when it is another than the frame's.
    /// - Throws: `outOfMemory`.
    init(_ frame: WebPFrame, size: PixelSize) throws(ImageDecodingError) {
        var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        // What libwebp has not written is never shown.
        let pixels = PixelBuffer(size: size, format: .rgba8, alphaMode: .straight) { bytes, _ in memory = bytes }
        guard let pixels else { throw ImageDecodingError.noMemory(for: size) }
        self.pixels = pixels
        self.memory = memory
        decoder = try WebPRowDecoder(frame, size: size, into: memory, bytesPerRow: pixels.bytesPerRow)
    }

    var size: PixelSize { pixels.size }

    /// Rows from the top that are finished.
    var rowCount: Int { decoder.rowCount }

    /// Decodes as far as the bytes reach. See ``WebPRowDecoder/advance(_:)``.
    func advance(_ bytes: UnsafeBufferPointer<UInt8>) throws(ImageDecodingError) { try decoder.advance(bytes) }

    /// The whole picture. Throws `truncated` when rows are missing.
    func finished() throws(ImageDecodingError) -> PixelBuffer {
        try decoder.requireComplete()
        return pixels
    }

    /// A copy of the finished rows; the others are transparent.
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
    /// Decodes the frame, all of which is among `bytes`: straight RGBA8 of `size`.
    func pixels(
        _ bytes: UnsafeBufferPointer<UInt8>, size: PixelSize, _ settings: WebPSettings
    ) throws(ImageDecodingError) -> PixelBuffer {
        let bitstream = self.bytes(in: bytes)
        var status = VP8_STATUS_OK
        do {
            // Its memory is released before the pieces take as much.
            let pixels = try PixelBuffer(size: size, format: .rgba8, alphaMode: .straight) {
                (memory, stride) throws(ImageDecodingError) in
                var config = try settings.configuration(from: area.size, to: size, memory, bytesPerRow: stride)
                status = WebPDecode(bitstream.baseAddress, bitstream.count, &config)
            }
            guard let pixels else { throw ImageDecodingError.noMemory(for: size) }
            if status == VP8_STATUS_OK { return pixels }
        }
        guard status != VP8_STATUS_OUT_OF_MEMORY else { throw ImageDecodingError(libwebp: status) }
        // libwebp judges damage differently at once and in pieces. What it says in pieces counts, so that the answer
        // does not depend on how the bytes came.
        let partialImage = try WebPPartialImage(self, size: size)
        try partialImage.advance(bitstream)
        return try partialImage.finished()
    }
}
