#if JXL
    public import AlcedoCore
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
