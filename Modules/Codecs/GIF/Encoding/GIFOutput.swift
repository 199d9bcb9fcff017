import AlcedoCore
private import CGIFShim
import FoundationEssentials

/// Writes the blocks of a GIF to memory, by giflib.
final class GIFOutput {
    private let encoder: OpaquePointer

    /// Writes the header.
    ///
    /// - Parameters:
    ///   - size: At most 65,535 pixels a side.
    ///   - loopCount: 0 to 65,535 for a NETSCAPE2.0 extension; nil for none.
    init(size: PixelSize, loopCount: Int?, colorProfile: Data?) throws(ImageEncodingError) {
        guard let encoder = alcedo_gif_encoder_create() else {
            throw ImageEncodingError(.outOfMemory, "GIF: there is no memory for the encoder")
        }
        self.encoder = encoder
        let profile = colorProfile ?? Data()
        let isWritten = profile.bytes.withUnsafeBytes { icc in
            alcedo_gif_encoder_begin(
                encoder, UInt32(clamping: size.width), UInt32(clamping: size.height),
                Int32(clamping: loopCount ?? -1), icc.baseAddress?.assumingMemoryBound(to: UInt8.self), icc.count)
        }
        guard isWritten != 0 else { throw failure }
    }

    deinit { alcedo_gif_encoder_destroy(encoder) }

    /// Writes one image.
    ///
    /// - Parameters:
    ///   - delay: In hundredths of a second, at most 65,535.
    ///   - clears: Whether the image's area becomes transparent after it was shown.
    func add(
        _ picture: GIFIndexedPicture, at area: PixelRect, delay: Int, clears: Bool
    ) throws(ImageEncodingError) {
        var indices = picture.indices
        let isWritten = indices.withUnsafeMutableBufferPointer { indices in
            picture.palette.withUnsafeBufferPointer { palette -> Int32 in
                guard let indices = indices.baseAddress, let colors = palette.baseAddress else { return 0 }
                // Source of the numbers: GIF89a section 23.
                var image = alcedo_gif_image(
                    left: UInt32(clamping: area.x), top: UInt32(clamping: area.y),
                    width: UInt32(clamping: area.size.width), height: UInt32(clamping: area.size.height),
                    indices: indices, palette: colors, color_count: UInt32(clamping: palette.count / 3),
                    transparent_index: Int32(clamping: picture.transparentIndex ?? -1), disposal: clears ? 2 : 1,
                    delay: UInt32(clamping: delay))
                return alcedo_gif_encoder_add(encoder, &image)
            }
        }
        guard isWritten != 0 else { throw failure }
    }

    /// Writes the end and returns the file.
    func finish() throws(ImageEncodingError) -> Data {
        var bytes: UnsafeMutablePointer<UInt8>?
        var count = 0
        guard alcedo_gif_encoder_finish(encoder, &bytes, &count) != 0, let bytes else { throw failure }
        return Data(
            bytesNoCopy: bytes, count: count,
            deallocator: .custom { pointer, _ in alcedo_gif_free(pointer.assumingMemoryBound(to: UInt8.self)) })
    }

    private var failure: ImageEncodingError {
        ImageEncodingError(.failed, "GIF: \(String(cString: alcedo_gif_encoder_message(encoder)))")
    }
}
