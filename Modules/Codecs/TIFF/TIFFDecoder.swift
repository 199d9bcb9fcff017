#if TIFF
    public import AlcedoCore
    package import FoundationEssentials

    /// The decoder of `CodecRegistry.Entry.tiff(page:)`, whose comment describes the behavior.
    ///
    /// This module finds the pages itself, so that no chain of directories makes libtiff read on, and checks the size
    /// before libtiff reads a directory. Sources: TIFF 6.0, and its supplements 1 and 2.
    package struct TIFFDecoder: PageDecoding {
        /// The index of the page.
        package var page: Int

        /// Creates a stateless decoder. By default, it decodes the first page.
        package init(page: Int = 0) { self.page = page }

        /// Reads the properties of the page.
        ///
        /// - Throws: ``/AlcedoCore/ImageDecodingError``: `truncated` when the directory of the page is incomplete.
        /// - Complexity: O(pages and strips).
        package func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
            try OpenedTIFF(data, page: page, limits: limits)
        }
    }

    /// A TIFF of which the properties of a page have been read.
    final class OpenedTIFF: FileReading {
        let file: OpenedFile<TIFFFile>
        private let limits: DecodingLimits
        let header: ImageHeader

        init(_ data: Data, page: Int, limits: DecodingLimits) throws(ImageDecodingError) {
            self.limits = limits
            file = try OpenedFile(data, of: "TIFF", limits: limits) { bytes, limits throws(ImageDecodingError) in
                try TIFFFile(bytes, page: page, limits: limits)
            }
            header = try file.withFile { file, _ throws(ImageDecodingError) in ImageHeader(file.info) }
        }

        func info() throws(ImageDecodingError) -> ImageInfo {
            try file.withFile { file, _ throws(ImageDecodingError) in
                try file.check(limits, format: file.format(DecodingOptions()))
                return file.info
            }
        }

        func decodingByteCount(_ options: DecodingOptions) throws(ImageDecodingError) -> Int {
            try file.withFile(options.limits) { file, _ throws(ImageDecodingError) in
                try file.check(options.limits, format: file.format(options))
                return file.byteCount(options)
            }
        }

        func decode(_ options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
            try file.takeFile(options.limits) { file, _ throws(ImageDecodingError) in
                try file.check(options.limits, format: file.format(options))
                do throws(ImageDecodingError) {
                    return try TIFFRows(file, options).image()
                } catch {
                    guard options.allows(error), let image = try TIFFRows(file, options).partialImage(error) else {
                        throw error
                    }
                    return image
                }
            }
        }

        /// Sends the rows of the page while strips or tiles are decoded. A page that must be reoriented is decoded as a
        /// whole first.
        ///
        /// - Throws: ``/AlcedoCore/ImageDecodingError``, and the errors of the consumer.
        func decodeRows(_ options: DecodingOptions, into consumer: any PixelRowConsumer) throws -> ImageDamage? {
            let options = options.forRows
            return try file.takeFileForRows(options.limits) { file, _ in
                try file.check(options.limits, format: file.format(options))
                let rows = TIFFRows(file, options)
                guard !options.appliesOrientation || file.info.orientation == .up else {
                    return try rows.image().sendRows(to: consumer)
                }
                return try rows.send(to: consumer)
            }
        }
    }

    extension CodecRegistry.Entry {
        /// The codec of TIFF by libtiff, for the first page of a file. See `tiff(page:)`.
        public static var tiff: Self { tiff(page: 0) }

        /// Returns the codec of TIFF by libtiff, for one page of a file.
        ///
        /// ```swift
        /// let codecs = CodecRegistry.standard.adding(.tiff)
        /// let second = try CodecRegistry([.tiff(page: 1)]).decode(data)
        /// ```
        ///
        /// The format is recognized by its byte order and the number 42, or 43 of BigTIFF. The pages of a document are
        /// not an animation: the image has one frame, and `ImageInfo.pageCount` and ``TIFFPages`` count the pages. The
        /// registry's encoder is lossless at every quality.
        ///
        /// Decoders of TIFF have a long record of memory errors. Decode files of unknown origin in the workers of
        /// `AlcedoSandbox`, as the programs do. The page of the entry is decoded there, too.
        ///
        /// The result is straight RGBA8, or gray8 for a gray page without alpha on request. It is RGBA16 or gray16 for
        /// pages with more than 8 bits when the options request it. The orientation of the page is applied. Inks are
        /// converted to RGB by a formula, unless the options keep them. A target size averages pixels while strips or
        /// tiles are decoded.
        ///
        /// A damaged chain of pages, metadata that is missing or cannot be used, and missing bytes after the last pixel
        /// are harmless. Errors after which the decoders of fax and JPEG continue mean wrong pixels. A strip is missing
        /// from its first damaged row on, and a damaged tile is missing as a whole; others are shown. Most compressions
        /// have no checksums, so wrong samples are often not detected.
        ///
        /// - Parameter page: The index of the page. A file without this page is the error `unsupportedVariant`. So is
        ///   a raw photo of a camera, such as DNG, CR2, NEF and ARW.
        public static func tiff(page: Int) -> Self {
            Self(
                format: .tiff, decoder: TIFFDecoder(page: page),
                signatures: [[0x49, 0x49, 42, 0], [0x4D, 0x4D, 0, 42], [0x49, 0x49, 43, 0], [0x4D, 0x4D, 0, 43]],
                makeEncoder: { _ in TIFFEncoder() })
        }
    }

    extension ImageFormat {
        /// Tag Image File Format, also BigTIFF.
        public static let tiff = ImageFormat(rawValue: "tiff")
    }
#endif
