#if JXL
    package import AlcedoCore
    import AlcedoJXL
    package import FoundationEssentials

    #if Sandbox
        import AlcedoSandbox
    #endif

    /// The lossless recompression of JPEG files in a program: in its worker processes, or in the program itself.
    package struct Recompressor: Sendable {
        /// The kind of the file that is made.
        package enum Direction: String, CaseIterable, Sendable {
            /// JPEG XL of a JPEG file.
            case compression = "jpeg-to-jxl"
            /// The JPEG file of which a JPEG XL file was made.
            case reconstruction = "jxl-to-jpeg"

            /// Converts a file in this process. The effort is that of libjxl. Throws `ImageDecodingError`, also for
            /// files that cannot be encoded, because that depends on their bytes.
            func convert(_ data: Data, effort: Int, limits: DecodingLimits) throws(ImageDecodingError) -> Data {
                guard self == .compression else { return try JPEGRecompression.reconstruct(data, limits: limits) }
                do throws(ImageEncodingError) {
                    return try JPEGRecompression.compress(data, effort: effort, limits: limits)
                } catch {
                    let code: ImageDecodingError.Code =
                        switch error.code {
                        case .outOfMemory: .outOfMemory
                        case .failed: .corrupt
                        default: .unsupportedVariant
                        }
                    throw ImageDecodingError(code, error.message)
                }
            }
        }

        private typealias Conversion =
            @Sendable (Direction, Data, _ effort: Int, DecodingLimits) throws(ImageDecodingError) -> Data

        private let conversion: Conversion

        /// Creates a recompressor that works in this process.
        package init() {
            conversion = { direction, data, effort, limits throws(ImageDecodingError) in
                try direction.convert(data, effort: effort, limits: limits)
            }
        }

        #if Sandbox
            /// Creates a recompressor that works in worker processes, or in this process where the kernel or the
            /// container does not allow them.
            package init(in sandbox: ProgramSandbox) {
                conversion = { direction, data, effort, limits throws(ImageDecodingError) in
                    switch sandbox.workers() {
                    case .success(let workers):
                        return try workers.convert(data, by: direction.rawValue, argument: effort, limits: limits)
                    case .failure(let error) where error.code == .unsupported:
                        return try direction.convert(data, effort: effort, limits: limits)
                    case .failure(let error):
                        throw ImageDecodingError(
                            .decoderUnavailable,
                            "JPEG XL: cannot convert the file, because no confined process starts: \(error)")
                    }
                }
            }
        #endif

        /// Converts a file. Blocks while it works.
        ///
        /// - Parameters:
        ///   - direction: The kind of the file that is made.
        ///   - data: The file.
        ///   - effort: The effort of libjxl, from 1 to 9.
        ///   - limits: The limits of the image.
        /// - Throws: `ImageDecodingError`, also for files that cannot be encoded.
        package func convert(
            _ direction: Direction, _ data: Data, effort: Int, limits: DecodingLimits
        ) throws(ImageDecodingError) -> Data {
            try conversion(direction, data, effort, limits)
        }
    }
#endif
