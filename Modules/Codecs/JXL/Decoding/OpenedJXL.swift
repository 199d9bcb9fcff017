#if JXL
    import AlcedoCore
    import FoundationEssentials

    /// A JPEG XL whose properties have been read. Frames and metadata of a file whose end is missing may be missing.
    final class OpenedJXL: FileReading {
        let file: OpenedFile<JXLFile>
        private let limits: DecodingLimits
        let properties: JXLHeader
        let header: ImageHeader

        init(_ data: Data, limits: DecodingLimits, threadCount: Int) throws(ImageDecodingError) {
            self.limits = limits
            file = try OpenedFile(data, of: "JPEG XL", limits: limits) { bytes, limits throws(ImageDecodingError) in
                // The pixels of gray8 are the smallest. Decoding checks those that are requested.
                try JXLFile(bytes, limits: limits, format: .gray8, threadCount: threadCount)
            }
            properties = try file.withFile { file, _ throws(ImageDecodingError) in file.header }
            header = ImageHeader(format: .jxl, size: properties.size, orientation: properties.orientation)
        }

        /// Returns the properties.
        ///
        /// - Throws: `truncated` when the first frame of an animation is incomplete, or pixels and boxes with metadata
        ///   are; `exceedsLimit`.
        func info() throws(ImageDecodingError) -> ImageInfo {
            try file.withFile { file, _ throws(ImageDecodingError) in
                try file.check(limits, format: .rgba8)
                if !file.isComplete, let damage = file.damage, damage.kind > .harmless { throw damage.error }
                return file.header.info
            }
        }

        func decode(_ options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
            try withFile(options) { file, bytes throws(ImageDecodingError) in
                do throws(ImageDecodingError) {
                    return try image(file, options)
                } catch {
                    guard options.allows(error), var image = try part(file, bytes, options) else { throw error }
                    image.damage = ImageDamage(.missingPixels, error)
                    return image
                }
            }
        }

        /// Returns the maximum number of bytes that decoding holds: the planes of libjxl, the output, the averaged
        /// image, the upright image when it is rotated, and the window of compressed metadata.
        func decodingByteCount(_ options: DecodingOptions) throws(ImageDecodingError) -> Int {
            try withFile(options) { file, _ throws(ImageDecodingError) in
                file.header.byteCount(options, isIncremental: false)
            }
        }

        private func withFile<Result>(
            _ options: DecodingOptions,
            _ body: (JXLFile, UnsafeBufferPointer<UInt8>) throws(ImageDecodingError) -> Result
        ) throws(ImageDecodingError) -> Result {
            try file.withFile(options.limits) { file, bytes throws(ImageDecodingError) in
                try file.check(options.limits, format: options.pixelFormat)
                return try body(file, bytes)
            }
        }

        /// Returns the image of complete bytes.
        private func image(_ file: JXLFile, _ options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
            guard file.header.isAnimated, options.includesAnimation else {
                try options.forRows.check(file.damage)
                var image = try file.image(options)
                image.damage = file.damage
                return image
            }
            let animation = try JXLAnimation(file, options: options)
            try options.forRows.check(animation.imageDamage)
            return try animation.image()
        }

        /// Returns the part of a damaged file that can be decoded, or nil when there is none.
        private func part(
            _ file: JXLFile, _ bytes: UnsafeBufferPointer<UInt8>, _ options: DecodingOptions
        ) throws(ImageDecodingError) -> DecodedImage? {
            guard let part = try? JXLPartialImage(file, options: options), try part.advance(bytes, isEnd: true)
            else { return nil }
            return try file.header.image(part.pixels(), options)
        }
    }
#endif
