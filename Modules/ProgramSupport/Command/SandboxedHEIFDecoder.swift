#if HEIF && Sandbox
    import AlcedoCore
    import AlcedoHEIF
    import AlcedoSandbox
    import FoundationEssentials

    /// The decoder of HEIF in confined worker processes, which start with the first image, because most commands decode
    /// none.
    ///
    /// Where the kernel does not allow confined processes, every image is an error. No image is decoded without them.
    struct SandboxedHEIFDecoder: ImageDecoding {
        private static let sandbox = Result { () throws(SandboxError) in try Sandbox() }

        private func decoder() throws(ImageDecodingError) -> SandboxedDecoder {
            switch Self.sandbox {
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

        func decodeRows(_ data: Data, options: DecodingOptions, into consumer: any PixelRowConsumer) throws {
            try decoder().decodeRows(data, options: options, into: consumer)
        }

        func decodingByteCount(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> Int {
            try decoder().decodingByteCount(data, options: options)
        }
    }
#endif
