#if TIFF
    import AlcedoCore
    import AlcedoRuntime
    import CTIFFShim

    /// A decoder of libtiff over one page of a file. Its rows can be read once.
    final class TIFFReader {
        private let decoder: OpaquePointer
        /// The properties of the page. Pointers are valid as long as the reader.
        let page: alcedo_tiff_info

        /// The bytes of the tables of a codec.
        static let tableByteCount = 512 << 10

        /// Reads the directory at an offset. The bytes must outlive the reader.
        ///
        /// When the work of the thread is canceled, ``readRow(into:)`` throws `decoderUnavailable`.
        init(_ bytes: UnsafeBufferPointer<UInt8>, directory: Int) throws(ImageDecodingError) {
            let isCanceled: @convention(c) () -> CInt = { BlockingExecutor.isWorkCanceled ? 1 : 0 }
            guard let base = bytes.baseAddress, let decoder = alcedo_tiff_create(base, bytes.count, isCanceled) else {
                throw ImageDecodingError(.outOfMemory, "TIFF: cannot create a decoder: out of memory")
            }
            var info = alcedo_tiff_info()
            let status = alcedo_tiff_read_page(decoder, UInt64(directory), &info)
            guard status == ALCEDO_TIFF_OK else {
                defer { alcedo_tiff_destroy(decoder) }
                throw Self.error(status, alcedo_tiff_message(decoder))
            }
            self.decoder = decoder
            page = info
        }

        deinit { alcedo_tiff_destroy(decoder) }

        /// Allocates what decoding needs. Must be called once, before the first row.
        func start(_ format: alcedo_tiff_format) throws(ImageDecodingError) {
            try check(alcedo_tiff_start(decoder, format))
        }

        /// Writes the next row. Missing pixels have zeros.
        func readRow(into memory: UnsafeMutableRawBufferPointer) throws(ImageDecodingError) -> alcedo_tiff_row_state {
            guard let base = memory.baseAddress else { return ALCEDO_TIFF_MISSING }
            var state = ALCEDO_TIFF_WHOLE
            try check(alcedo_tiff_read_row(decoder, base, memory.count, &state))
            return state
        }

        /// The worst damage of the pixels that has been found so far; nil when none was found.
        var damage: ImageDamage? {
            var status = ALCEDO_TIFF_OK
            let kind: DamageTolerance
            switch alcedo_tiff_found_damage(decoder, &status) {
            case ALCEDO_TIFF_HARMLESS: kind = .harmless
            case ALCEDO_TIFF_WRONG_PIXELS: kind = .wrongPixels
            case ALCEDO_TIFF_MISSING_PIXELS: kind = .missingPixels
            default: return nil
            }
            return ImageDamage(kind, Self.error(status, alcedo_tiff_damage_message(decoder)))
        }

        private func check(_ status: alcedo_tiff_status) throws(ImageDecodingError) {
            guard status != ALCEDO_TIFF_OK else { return }
            throw Self.error(status, alcedo_tiff_message(decoder))
        }

        private static func error(_ status: alcedo_tiff_status, _ message: UnsafePointer<CChar>) -> ImageDecodingError {
            let code: ImageDecodingError.Code =
                switch status {
                case ALCEDO_TIFF_TRUNCATED: .truncated
                case ALCEDO_TIFF_UNSUPPORTED: .unsupportedVariant
                case ALCEDO_TIFF_EXCEEDS_LIMIT: .exceedsLimit
                case ALCEDO_TIFF_OUT_OF_MEMORY: .outOfMemory
                case ALCEDO_TIFF_CANCELED: .decoderUnavailable
                default: .corrupt
                }
            if code == .decoderUnavailable { return .canceled("TIFF") }
            return ImageDecodingError(code, "TIFF: \(String(cString: message))")
        }
    }

    extension PixelFormat {
        /// The samples of rows of libtiff.
        var tiff: alcedo_tiff_format {
            switch self {
            case .gray8: ALCEDO_TIFF_GRAY8
            case .gray16: ALCEDO_TIFF_GRAY16
            case .rgba16: ALCEDO_TIFF_RGBA16
            case .rgba8, .rgbx8: ALCEDO_TIFF_RGBA8
            }
        }
    }
#endif
