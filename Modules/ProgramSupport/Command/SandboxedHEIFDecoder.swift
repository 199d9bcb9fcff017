#if HEIF && Sandbox
    import AlcedoCore
    import AlcedoHEIF
    import AlcedoSandbox
    import FoundationEssentials

    /// The decoder of HEIF in confined worker processes.
    ///
    /// Where the kernel does not allow confined processes, every image is an error. No image is decoded without them.
    struct SandboxedHEIFDecoder: ImageDecoding {
        private static let defaultSandbox = Result { () throws(SandboxError) in try Sandbox() }

        /// Returns the worker processes, or the error that prevented them from starting.
        private let sandbox: @Sendable () -> Result<Sandbox, SandboxError>

        /// Creates a decoder with the default worker processes, which start with the first image, because most commands
        /// decode none.
        init() { sandbox = { Self.defaultSandbox } }

        /// Creates a decoder.
        ///
        /// - Parameter sandbox: The worker processes, or the error that prevented them from starting.
        init(in sandbox: Result<Sandbox, SandboxError>) { self.sandbox = { sandbox } }

        private func decoder() throws(ImageDecodingError) -> SandboxedDecoder {
            switch sandbox() {
            case .success(let sandbox): return SandboxedDecoder(.heif, in: sandbox)
            case .failure(let error):
                throw ImageDecodingError(
                    .decoderUnavailable, "HEIF: cannot decode the image, because no confined process starts: \(error)")
            }
        }

        func inspect(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> ImageInfo {
            try decoder().inspect(data, limits: limits)
        }

        func decode(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
            try decoder().decode(data, options: options)
        }

        func decodeRows(
            _ data: Data, options: DecodingOptions, into consumer: any PixelRowConsumer
        ) throws -> ImageDamage? {
            try decoder().decodeRows(data, options: options, into: consumer)
        }

        func decodingByteCount(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> Int {
            try decoder().decodingByteCount(data, options: options)
        }
    }
#endif
