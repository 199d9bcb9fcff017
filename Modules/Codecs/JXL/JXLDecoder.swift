#if JXL
    public import AlcedoCore
    import CJXLShim
    package import FoundationEssentials

    /// The decoder of `CodecRegistry.Entry.jxl(usesThreads:)`.
    ///
    /// The orientation is that of the codestream. The orientation in EXIF is not applied, because the format repeats it
    /// there for information only. Sources: ISO/IEC 18181-1 and 18181-2.
    ///
    /// libjxl writes whole frames. With a target size, rows are averaged after the frame is complete.
    package struct JXLDecoder: ImageDecoding {
        /// Whether a second thread may be used. This does not change the pixels.
        package var usesThreads: Bool

        /// Creates a stateless decoder. By default, it uses the calling thread only.
        package init(usesThreads: Bool = false) { self.usesThreads = usesThreads }

        /// Reads the properties from the codestream and the boxes. The data may be the beginning of a file that
        /// contains them.
        ///
        /// - Throws: ``/AlcedoCore/ImageDecodingError``: `truncated` when the header is incomplete, `exceedsLimit` also
        ///   for more layers than `limits` allows frames.
        /// - Complexity: O(boxes and frames).
        package func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
            try OpenedJXL(data, limits: limits, threadCount: usesThreads ? 2 : 1)
        }

        package func makeIncrementalDecoder(options: DecodingOptions) -> any IncrementalImageDecoding {
            IncrementalDecoder(JXLDecodingState(options: options, threadCount: usesThreads ? 2 : 1))
        }
    }

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

    extension CodecRegistry.Entry {
        /// JPEG XL by libjxl: still images and animations. See `jxl(usesThreads:)`.
        public static var jxl: Self { jxl(usesThreads: false) }

        /// Returns the codec of JPEG XL by libjxl: still images and animations, with integer and floating-point
        /// samples, with alpha.
        ///
        /// ```swift
        /// let codecs = CodecRegistry.standard.adding(.jxl(usesThreads: true))
        /// ```
        ///
        /// The format is recognized by the signature of the codestream and by that of the container. At a quality of 1,
        /// the registry's encoder is lossless.
        ///
        /// The orientation in EXIF is ignored, as the format requires. The result is straight RGBA8, also when the file
        /// stores premultiplied color. It is RGBA16 for files with more than 8 bits when the options request it, and
        /// floating-point samples are then clamped to the range from 0 to 1. XYB images with an ICC profile are decoded
        /// to sRGB, other images to the color space of the file. A target size averages pixels after they are decoded.
        ///
        /// Unusable metadata, a missing end of the file after the pixels, and missing or broken later frames of an
        /// animation, which ends before them, are harmless damage. Other damage that libjxl detects means missing
        /// pixels: complete passes and groups of pixels are shown. libjxl decodes all channels together, so damaged
        /// alpha cannot be left out. The format has no checksums, so wrong samples are usually not detected. Damage in
        /// the pixels of a later frame is found when the frame is decoded.
        ///
        /// - Parameter usesThreads: Whether a second thread may be used to decode an image. This does not change the
        ///   pixels.
        public static func jxl(usesThreads: Bool) -> Self {
            Self(
                format: .jxl, decoder: JXLDecoder(usesThreads: usesThreads),
                signatures: [JXLContainer.codestreamSignature, JXLContainer.boxSignature],
                makeEncoder: { quality in JXLEncoder(compression: .init(quality: quality * 100)) })
        }
    }

    extension ImageFormat {
        /// JPEG XL, lossy and lossless.
        public static let jxl = ImageFormat(rawValue: "jxl")
    }
#endif
