#if JXL
    import AlcedoCore
    import CJXLShim

    /// Checks the sizes of the frames of a file whose bytes may arrive in pieces, also of frames that are not shown.
    /// Each frame is read once.
    final class JXLFrameCheck {
        private let state: OpaquePointer
        /// The maximum number of pixels of a layer.
        private let maximumPixelCount: Int

        /// Creates a check of a file whose header was read within the limits.
        ///
        /// - Throws: `outOfMemory`.
        init(_ header: JXLHeader, _ limits: DecodingLimits) throws(ImageDecodingError) {
            let layer = limits.maximumPixelCount
            let frameLimits = alcedo_jxl_frame_limits(
                layer: UInt64(layer), hidden: UInt64(min(layer, header.maximumHiddenPixelCount(limits))),
                total: UInt64(JXLLayers.maximumPixelCount(limits)))
            guard let state = alcedo_jxl_frame_check_create(frameLimits) else { throw Self.noMemory }
            self.state = state
            maximumPixelCount = layer
        }

        deinit { alcedo_jxl_frame_check_destroy(state) }

        private static var noMemory: ImageDecodingError {
            ImageDecodingError(.outOfMemory, "JPEG XL: cannot create a decoder: out of memory")
        }

        /// Checks the frames in all bytes received so far. Must be called before they are decoded.
        ///
        /// - Throws: `exceedsLimit` for frames that are larger than the limits; `unsupportedVariant` when libjxl has no
        ///   limit for the memory of frames and the sizes of all frames cannot be known; `outOfMemory`.
        func check(
            _ bytes: UnsafeBufferPointer<UInt8>, in container: @autoclosure () -> JXLContainer
        ) throws(ImageDecodingError) {
            guard alcedo_jxl_frame_check_is_complete(state) == 0 else { return }
            // The bytes before the next frame are not read again.
            let parts = Self.parts(of: container().codestream, from: alcedo_jxl_frame_check_offset(state))
            let status: alcedo_jxl_status
            if parts.count == 1 {
                status = run(UnsafeBufferPointer(rebasing: bytes[parts[0]]))
            } else {
                var joined: [UInt8] = []
                for part in parts { joined.append(contentsOf: bytes[part]) }
                status = joined.withUnsafeBufferPointer { run($0) }
            }
            switch status {
            case ALCEDO_JXL_OK: return
            case ALCEDO_JXL_OUT_OF_MEMORY: throw Self.noMemory
            case ALCEDO_JXL_UNSUPPORTED:
                throw ImageDecodingError(
                    .unsupportedVariant,
                    "JPEG XL: frames with a coded order of sections need libjxl 0.11, except for the last frame")
            default:
                throw ImageDecodingError(
                    .exceedsLimit,
                    "JPEG XL: a frame exceeds the limit of \(maximumPixelCount) pixels "
                        + "(DecodingLimits.maximumPixelCount), or has too many hidden pixels")
            }
        }

        /// Returns the parts of a codestream without its first `offset` bytes.
        private static func parts(of codestream: [Range<Int>], from offset: Int) -> [Range<Int>] {
            var skippedCount = offset
            var result: [Range<Int>] = []
            for part in codestream {
                let count = min(skippedCount, part.count)
                skippedCount -= count
                if count < part.count { result.append(part.lowerBound + count..<part.upperBound) }
            }
            return result
        }

        private func run(_ codestream: UnsafeBufferPointer<UInt8>) -> alcedo_jxl_status {
            guard let base = codestream.baseAddress, !codestream.isEmpty else { return ALCEDO_JXL_OK }
            return alcedo_jxl_check_frames(state, base, codestream.count)
        }
    }
#endif
