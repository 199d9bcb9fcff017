import AlcedoCore
import CWebP

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
            guard let pixels else { throw ImageDecodingError(.outOfMemory, "there is no memory for \(size) pixels") }
            if status == VP8_STATUS_OK { return pixels }
        }
        guard status != VP8_STATUS_OUT_OF_MEMORY else { throw ImageDecodingError(libwebp: status) }
        // libwebp judges damage differently at once and in pieces. What it says in pieces counts, so that the answer
        // does not depend on how the bytes came.
        let pieces = try WebPPieces(self, size: size)
        try pieces.advance(bitstream)
        return try pieces.finished()
    }
}
