#if JXL
    import AlcedoCore
    import CJXLShim

    /// A decoder of libjxl over the bytes of one file.
    final class JXLReader {
        private let decoder: OpaquePointer

        /// Creates a decoder without bytes.
        ///
        /// - Throws: `outOfMemory`.
        init(
            _ purpose: alcedo_jxl_purpose, limits: DecodingLimits, threadCount: Int = 1
        ) throws(ImageDecodingError) {
            var settings = alcedo_jxl_decoder_settings()
            settings.purpose = purpose
            settings.memory_limit = JXLHeader.fixedByteCount
            settings.profile_limit = min(limits.maximumMetadataByteCount, limits.maximumChunkByteCount)
            settings.threads = Int32(clamping: threadCount)
            guard let decoder = alcedo_jxl_create(&settings) else {
                throw ImageDecodingError(.outOfMemory, "JPEG XL: cannot create a decoder: out of memory")
            }
            self.decoder = decoder
        }

        deinit { alcedo_jxl_destroy(decoder) }

        /// Passes all bytes received so far, which must stay until the next call.
        func feed(_ bytes: UnsafeBufferPointer<UInt8>) {
            guard let base = bytes.baseAddress else { return }
            alcedo_jxl_feed(decoder, base, bytes.count)
        }

        /// Sets the maximum number of bytes that libjxl may hold. libjxl before 0.11 holds pixels in other memory.
        func setMemoryLimit(_ byteCount: Int) { alcedo_jxl_set_memory_limit(decoder, max(0, byteCount)) }

        /// Reads the header, without pixels. Throws `truncated` when more bytes are needed.
        func readInfo() throws(ImageDecodingError) -> alcedo_jxl_info {
            var info = alcedo_jxl_info()
            try check(alcedo_jxl_read_header(decoder, &info), "cannot read the header")
            return info
        }

        /// Reads the header of the next frame or layer. Returns nil after the last one. Throws `truncated` when more
        /// bytes are needed.
        func nextFrame() throws(ImageDecodingError) -> alcedo_jxl_frame? {
            var frame = alcedo_jxl_frame()
            let status = alcedo_jxl_next_frame(decoder, &frame)
            guard status != ALCEDO_JXL_END else { return nil }
            try check(status, "cannot read a frame header")
            return frame
        }

        /// The number of passed bytes that libjxl has not consumed. No more bytes can then be decoded.
        var remainingByteCount: Int { alcedo_jxl_remaining(decoder) }

        /// Skips frames before the next call of ``nextFrame()``.
        func skipFrames(_ count: Int) { if count > 0 { alcedo_jxl_skip_frames(decoder, count) } }

        /// The progress of a frame.
        enum Progress {
            /// The frame is complete.
            case complete
            /// A pass is complete.
            case pass
            /// More bytes are needed.
            case waiting
        }

        /// Decodes the frame whose header was read. The memory must stay until the frame is complete, and rows are as
        /// in a pixel buffer.
        func readPixels(
            _ format: PixelFormat, into memory: UnsafeMutableRawBufferPointer
        ) throws(ImageDecodingError) -> Progress {
            guard let base = memory.baseAddress else { return .waiting }
            let status = alcedo_jxl_read_pixels(decoder, format.jxl, base, memory.count)
            switch status {
            case ALCEDO_JXL_PASS: return .pass
            case ALCEDO_JXL_TRUNCATED: return .waiting
            default:
                try check(status, "cannot decode the pixels")
                return .complete
            }
        }

        /// Writes the pixels that can be decoded from the received bytes. Returns whether there are any.
        func flush() -> Bool { alcedo_jxl_flush(decoder) != 0 }

        /// Writes the reconstructed JPEG file. Returns its number of bytes, or nil when the memory is too small.
        func readJPEG(into memory: UnsafeMutableBufferPointer<UInt8>) throws(ImageDecodingError) -> Int? {
            guard let base = memory.baseAddress else { return nil }
            var count = 0
            let status = alcedo_jxl_read_jpeg(decoder, base, memory.count, &count)
            switch status {
            case ALCEDO_JXL_PASS: return nil
            case ALCEDO_JXL_UNSUPPORTED:
                throw ImageDecodingError(
                    .unsupportedVariant, "JPEG XL: cannot reconstruct a JPEG file: the file has no data for it")
            default:
                try check(status, "cannot reconstruct the JPEG file")
                return count
            }
        }

        private func check(_ status: alcedo_jxl_status, _ failure: String) throws(ImageDecodingError) {
            guard status != ALCEDO_JXL_OK else { return }
            let (code, reason): (ImageDecodingError.Code, String) =
                switch status {
                case ALCEDO_JXL_TRUNCATED: (.truncated, "the data ends too early")
                case ALCEDO_JXL_UNSUPPORTED: (.unsupportedVariant, "the variant is not supported")
                case ALCEDO_JXL_OUT_OF_MEMORY: (.outOfMemory, "out of memory")
                case ALCEDO_JXL_EXCEEDS_LIMIT:
                    (
                        .exceedsLimit,
                        "libjxl needs more memory than an image of its size may take, or than "
                            + "DecodingLimits.maximumByteCount allows"
                    )
                default: (.corrupt, "the data is damaged")
                }
            throw ImageDecodingError(code, "JPEG XL: \(failure): \(reason)")
        }
    }

    extension PixelFormat {
        /// The samples of libjxl.
        var jxl: alcedo_jxl_format {
            switch self {
            case .gray8: ALCEDO_JXL_GRAY8
            case .gray16: ALCEDO_JXL_GRAY16
            case .rgba16: ALCEDO_JXL_RGBA16
            case .rgba8, .rgbx8: ALCEDO_JXL_RGBA8
            }
        }
    }

    extension PixelBuffer {
        /// Whether every alpha sample has its maximum. O(*w* × *h*), or less when an early row has transparent pixels.
        var hasOnlyOpaqueSamples: Bool {
            withUnsafeBytes { memory in
                guard let base = memory.baseAddress else { return true }
                return alcedo_jxl_is_opaque(base, UInt32(width), UInt32(height), bytesPerRow, format.jxl) != 0
            }
        }
    }
#endif
