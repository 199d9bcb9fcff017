#if AVIF
    import AlcedoCore
    import CAVIFShim

    /// A decoder of libavif over the bytes of one file.
    final class AVIFReader {
        private let decoder: OpaquePointer

        /// Creates a decoder of complete bytes, which must outlive it, or, with nil, of bytes that are passed later.
        ///
        /// `container` is that of the same file, and must be within the limits.
        ///
        /// - Throws: `outOfMemory`.
        init(
            _ bytes: UnsafeBufferPointer<UInt8>?, _ container: AVIFContainer, limits: DecodingLimits,
            threadCount: Int = 1, readsMetadata: Bool, readsAlpha: Bool = true
        ) throws(ImageDecodingError) {
            var settings = alcedo_avif_decoder_settings()
            settings.pixel_limit = UInt32(clamping: max(1, min(limits.maximumPixelCount, container.declaredPixelLimit)))
            settings.frame_pixel_limit = UInt32(
                clamping: max(1, min(limits.maximumPixelCount, container.codedPixelLimit)))
            settings.frame_limit = UInt32(clamping: max(1, limits.maximumFrameCount))
            settings.threads = Int32(clamping: threadCount)
            settings.is_stream = bytes == nil ? 1 : 0
            settings.ignores_metadata = readsMetadata ? 0 : 1
            settings.ignores_alpha = container.hasOtherAuxiliaryTrack ? 1 : 0
            settings.hides_alpha = readsAlpha ? 0 : 1
            guard let decoder = alcedo_avif_create(bytes?.baseAddress, bytes?.count ?? 0, &settings) else {
                throw ImageDecodingError(.outOfMemory, "AVIF: cannot create a decoder: out of memory")
            }
            self.decoder = decoder
        }

        deinit { alcedo_avif_destroy(decoder) }

        /// Passes all bytes received so far, which must stay until the next call.
        func feed(_ bytes: UnsafeBufferPointer<UInt8>) {
            guard let base = bytes.baseAddress else { return }
            alcedo_avif_feed(decoder, base, bytes.count)
        }

        /// Reads the boxes of the file, without pixels.
        func readInfo() throws(ImageDecodingError) -> alcedo_avif_info {
            var info = alcedo_avif_info()
            try check(alcedo_avif_read_header(decoder, &info), "cannot read the file")
            return info
        }

        /// Returns the offset after the last byte that the frames up to `frame` need.
        func dataEnd(frame: Int) throws(ImageDecodingError) -> UInt64 {
            var end: UInt64 = 0
            try check(alcedo_avif_data_end(decoder, UInt32(frame), &end), "cannot locate frame \(frame)")
            return end
        }

        /// Decodes a frame or a layer. Returns false when its bytes have not arrived.
        func readFrame(_ index: Int) throws(ImageDecodingError) -> Bool {
            let status = alcedo_avif_read_frame(decoder, UInt32(index))
            guard status != ALCEDO_AVIF_WAITING else { return false }
            try check(status, "cannot decode frame \(index)")
            return true
        }

        /// The number of decoded rows of the frame, from the top.
        var rowCount: Int { Int(alcedo_avif_row_count(decoder)) }

        /// Whether a pixel of the frame is not opaque.
        var isTransparent: Bool { alcedo_avif_is_transparent(decoder) != 0 }

        /// Writes rows of the frame as stored: of the full width, and premultiplied when the file is.
        func convert(
            _ rows: Range<Int>, to format: PixelFormat, _ memory: UnsafeMutableRawPointer, bytesPerRow: Int
        ) throws(ImageDecodingError) {
            let samples =
                switch format {
                case .gray8: ALCEDO_AVIF_GRAY8
                case .gray16: ALCEDO_AVIF_GRAY16
                case .rgba16: ALCEDO_AVIF_RGBA16
                case .rgba8, .rgbx8: ALCEDO_AVIF_RGBA8
                }
            try check(
                alcedo_avif_convert(decoder, samples, UInt32(rows.lowerBound), UInt32(rows.count), memory, bytesPerRow),
                "cannot convert the pixels")
        }

        private func check(_ status: alcedo_avif_status, _ failure: String) throws(ImageDecodingError) {
            guard status != ALCEDO_AVIF_OK else { return }
            let code: ImageDecodingError.Code =
                switch status {
                case ALCEDO_AVIF_TRUNCATED, ALCEDO_AVIF_WAITING: .truncated
                case ALCEDO_AVIF_UNSUPPORTED: .unsupportedVariant
                case ALCEDO_AVIF_OUT_OF_MEMORY: .outOfMemory
                default: .corrupt
                }
            let reason = String(cString: alcedo_avif_message(decoder))
            throw ImageDecodingError(code, "AVIF: \(failure)" + (reason.isEmpty ? "" : ": \(reason)"))
        }
    }
#endif
