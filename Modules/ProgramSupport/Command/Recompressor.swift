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

            /// Returns the maximum number of bytes of the file that is made. A JPEG XL file is usually smaller than its
            /// JPEG file, and a little larger when there is nothing left to compress.
            package func maximumByteCount(of fileByteCount: Int, _ size: PixelSize, _ limits: DecodingLimits) -> Int {
                switch self {
                case .compression: 2 * fileByteCount + (64 << 10)
                case .reconstruction:
                    min(
                        limits.maximumByteCount,
                        JPEGRecompression.maximumJPEGByteCount(of: size, fileByteCount: fileByteCount, limits))
                }
            }

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
            @Sendable (Direction, Data, PixelSize, _ effort: Int, DecodingLimits) throws(ImageDecodingError) -> Data

        private let conversion: Conversion
        /// The maximum number of bytes of memory of a worker; nil without workers.
        private let memoryLimit: Int?

        /// Creates a recompressor that works in this process.
        package init() {
            memoryLimit = nil
            conversion = { direction, data, _, effort, limits throws(ImageDecodingError) in
                try direction.convert(data, effort: effort, limits: limits)
            }
        }

        #if Sandbox
            /// Creates a recompressor that works in worker processes, or in this process where the kernel or the
            /// container does not allow them.
            package init(in sandbox: ProgramSandbox) {
                memoryLimit = sandbox.memoryLimit
                conversion = { direction, data, size, effort, limits throws(ImageDecodingError) in
                    switch sandbox.workers() {
                    case .success(let workers):
                        return try workers.convert(
                            data, by: direction.rawValue, argument: effort, limits: limits,
                            maximumByteCount: direction.maximumByteCount(of: data.count, size, limits))
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

        /// Checks that a conversion that needs a number of bytes of memory fits into a worker. The worker would end
        /// without memory otherwise, after all of its work.
        ///
        /// - Throws: `exceedsLimit`.
        package func check(byteCount: Int) throws(ImageDecodingError) {
            guard let memoryLimit, byteCount > memoryLimit else { return }
            throw ImageDecodingError(
                .exceedsLimit,
                "JPEG XL: the recompression could need \(byteCount >> 20) MiB, and a worker has "
                    + "\(memoryLimit >> 20) MiB (three times --max-decoded)")
        }

        /// Converts a file. Blocks while it works.
        ///
        /// A worker compares the JPEG file that it reconstructs with the original. A file that takes the worker over
        /// could pass off another result as its own, of a plausible size.
        ///
        /// - Parameters:
        ///   - direction: The kind of the file that is made.
        ///   - data: The file.
        ///   - size: The size of the image, in pixels.
        ///   - effort: The effort of libjxl, from 1 to 9.
        ///   - limits: The limits of the image.
        /// - Throws: `ImageDecodingError`, also for files that cannot be encoded.
        package func convert(
            _ direction: Direction, _ data: Data, of size: PixelSize, effort: Int, limits: DecodingLimits
        ) throws(ImageDecodingError) -> Data {
            try conversion(direction, data, size, effort, limits)
        }
    }
#endif
