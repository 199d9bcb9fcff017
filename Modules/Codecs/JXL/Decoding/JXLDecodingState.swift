#if JXL
    import AlcedoCore
    import FoundationEssentials

    /// The state of an image whose bytes arrive in pieces.
    ///
    /// All bytes are kept, and the final image is decoded from them at the end. Previews are decoded only when they are
    /// requested.
    final class JXLDecodingState: IncrementalDecodingState {
        private let options: DecodingOptions
        private let threadCount: Int
        private var data = Data()
        private var header: JXLHeader?
        private var partialImage: JXLPartialImage?
        /// The number of bytes from which reading the header is tried again.
        private var nextAttempt = 0

        init(options: DecodingOptions, threadCount: Int) {
            self.options = options
            self.threadCount = threadCount
        }

        var info: ImageInfo? { header?.info }

        var decodingByteCount: Int? { header.map { $0.byteCount(options, isIncremental: true) } }

        func append(_ bytes: Data) throws(ImageDecodingError) {
            if data.isEmpty { data = bytes } else { data.append(bytes) }
            guard header == nil, data.count >= nextAttempt, !data.isEmpty else { return }
            do throws(ImageDecodingError) {
                header = try withFile { file in file.header }
            } catch {
                if error.code == .exceedsLimit || error.code == .outOfMemory { throw error }
                // The steps grow, so the number of attempts is logarithmic.
                nextAttempt = data.count + data.count / 8 + 16
            }
        }

        private func withFile<Result>(
            _ body: (JXLFile) throws(ImageDecodingError) -> Result
        ) throws(ImageDecodingError) -> Result {
            try data.withDecoderInput(of: "JPEG XL") { bytes throws(ImageDecodingError) in
                try body(JXLFile(bytes, limits: options.limits, format: options.pixelFormat))
            }
        }

        func preview() throws(ImageDecodingError) -> ImagePreview? {
            guard let header else { return nil }
            if partialImage == nil {
                // Errors are thrown at the end.
                partialImage = try? withFile { (file) throws(ImageDecodingError) in
                    try JXLPartialImage(file, options: options)
                }
            }
            return try data.withDecoderInput(of: "JPEG XL") { bytes throws(ImageDecodingError) in
                guard let partialImage, try partialImage.advance(bytes) else { return nil }
                let pixels = try partialImage.pixels()
                return ImagePreview(
                    image: try header.image(pixels, options), pass: partialImage.pass, rowCount: pixels.height)
            }
        }

        func finish() throws(ImageDecodingError) -> DecodedImage {
            partialImage = nil
            // Frames and metadata may be stored after the first pixels.
            let image = try OpenedJXL(data, limits: options.limits, threadCount: threadCount)
            header = image.properties
            return try image.decode(options)
        }
    }
#endif
