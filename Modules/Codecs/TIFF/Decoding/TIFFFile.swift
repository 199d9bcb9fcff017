#if TIFF
    import AlcedoCore
    import AlcedoRuntime
    import CTIFFShim
    import FoundationEssentials

    /// A page of a file whose properties have been read.
    struct TIFFFile {
        let reader: TIFFReader
        let info: ImageInfo
        /// The damage that is known before pixels are decoded, also of the metadata; nil when none was found.
        let damage: ImageDamage?
        /// Whether color is stored multiplied by alpha.
        let isPremultiplied: Bool
        private let bytes: UnsafeBufferPointer<UInt8>
        private let offset: Int

        /// The number of pixels of tiles that are decoded although they are outside of the image and exceed the limit
        /// of pixels.
        private static let uncheckedPixelCount = 1 << 24

        /// Reads the properties of a page. `bytes` must outlive the file.
        ///
        /// - Throws: ``/AlcedoCore/ImageDecodingError``: `truncated` when values are missing that decoding needs,
        ///   `exceedsLimit`, and `unsupportedVariant` also when there is no such page.
        init(
            _ bytes: UnsafeBufferPointer<UInt8>, page: Int, limits: DecodingLimits
        ) throws(ImageDecodingError) {
            let structure = try TIFFStructure(bytes, limits: limits)
            guard structure.pages.indices.contains(page) else {
                if page > 0, let damage = structure.damage { throw damage.error }
                throw ImageDecodingError(
                    .unsupportedVariant, "TIFF: there is no page \(page): the file has \(structure.pages.count)")
            }
            offset = structure.pages[page]
            self.bytes = bytes
            let directory = TIFFDirectory(structure, at: offset)
            // libtiff would replace some missing values by others.
            if directory.lacksNeededValues {
                throw ImageDecodingError(.truncated, "TIFF: the data ends within the directory of the page")
            }
            // Before libtiff allocates anything for strips.
            if let width = directory.integer(256), let height = directory.integer(257), width > 0, height > 0 {
                try limits.check(PixelSize(width: width, height: height), format: .gray8)
            }
            reader = try TIFFReader(bytes, directory: offset)
            var properties = Self.info(reader.page, directory, limits)
            properties.pageCount = structure.pages.count
            info = properties
            isPremultiplied = reader.page.is_premultiplied != 0
            let missing = ImageDamage(
                .harmless, ImageDecodingError(.truncated, "TIFF: the data ends within the metadata"))
            damage = .worst(.worst(info.metadataDamage, directory.lacksMetadata ? missing : nil), structure.damage)
            try check(limits, format: .gray8)
        }

        /// Returns a reader whose rows have not been read.
        func makeReader() throws(ImageDecodingError) -> TIFFReader {
            try TIFFReader(bytes, directory: offset)
        }

        /// Throws `exceedsLimit` when the page in a pixel format, or what decoding holds, exceeds the limits.
        func check(_ limits: DecodingLimits, format: PixelFormat) throws(ImageDecodingError) {
            try limits.check(info.size, format: format)
            guard reader.page.memory <= UInt64(clamping: limits.maximumByteCount) else {
                throw ImageDecodingError(
                    .exceedsLimit,
                    "TIFF: the strips or tiles need \(Int(clamping: reader.page.memory).byteCountText); the limit is "
                        + "\(limits.maximumByteCount.byteCountText) (DecodingLimits.maximumByteCount)")
            }
            // Tiles that are much larger than the image would take long.
            let (doubled, overflow) = limits.maximumPixelCount.multipliedReportingOverflow(by: 2)
            let pixelLimit = max(overflow ? .max : doubled, Self.uncheckedPixelCount)
            guard reader.page.coded_pixels <= UInt64(clamping: pixelLimit) else {
                throw ImageDecodingError(
                    .exceedsLimit,
                    "TIFF: the tiles have more than twice the limit of \(limits.maximumPixelCount) pixels "
                        + "(DecodingLimits.maximumPixelCount)")
            }
        }

        /// Whether the inks of the page are returned without a conversion.
        func keepsInks(_ options: DecodingOptions) -> Bool {
            options.keepsInks && info.colorModel == .cmyk && !info.hasAlpha
                && info.metadata.colorProfile.map(ICCProfile.describesInks) == true
        }

        /// Returns the format of the rows for a request.
        func format(_ options: DecodingOptions) -> PixelFormat {
            options.pixelFormat.available(
                isGray: info.colorModel == .gray, isDeep: info.bitDepth > 8 && !keepsInks(options))
        }

        /// Returns the maximum number of bytes that decoding holds: the strips or tiles, the output, the rows of a
        /// reduction, and the upright image when it is rotated.
        func byteCount(_ options: DecodingOptions) -> Int {
            let format = options.allowsPartial ? format(options).colored : format(options)
            let reduction = BoxReduction(
                from: info.size, orientation: info.orientation, towards: options.averagingTarget)
            let size = reduction.size(of: info.size)
            let isRotated = options.appliesOrientation && info.orientation != .up
            let output = PixelBuffer.byteCount(size: size, format: format) ?? .max
            let turned =
                PixelBuffer.byteCount(
                    size: info.orientation.swapsSides ? size.transposed : size, format: format) ?? .max
            // A row, the same multiplied by alpha, and what a reduction holds for each pixel of a row.
            let rows = info.size.width * (2 * format.bytesPerPixel + (reduction.factor > 1 ? 64 : 0))
            let held = Int(clamping: reader.page.memory).addingClamped(TIFFReader.tableByteCount + rows)
            return held.addingClamped(options.passesRows && !isRotated ? 0 : output)
                .addingClamped(isRotated ? turned : 0)
        }

        private static func info(
            _ page: alcedo_tiff_info, _ directory: TIFFDirectory, _ limits: DecodingLimits
        ) -> ImageInfo {
            let hasAlpha = page.has_alpha != 0
            let model: ColorModel =
                switch page.model {
                case ALCEDO_TIFF_MODEL_GRAY: hasAlpha ? .grayAlpha : .gray
                case ALCEDO_TIFF_MODEL_PALETTE: .palette
                case ALCEDO_TIFF_MODEL_YCBCR: .yCbCr
                case ALCEDO_TIFF_MODEL_CMYK: .cmyk
                default: hasAlpha ? .rgba : .rgb
                }
            return ImageInfo(
                format: .tiff, size: PixelSize(width: Int(page.width), height: Int(page.height)),
                orientation: ImageOrientation(rawValue: Int(page.orientation)) ?? .up, hasAlpha: hasAlpha,
                bitDepth: Int(page.depth), colorModel: model, metadata: metadata(page, directory, model, limits))
        }

        private static func metadata(
            _ page: alcedo_tiff_info, _ directory: TIFFDirectory, _ model: ColorModel, _ limits: DecodingLimits
        ) -> ImageMetadata {
            var left = limits.maximumMetadataByteCount
            var metadata = ImageMetadata()
            func kept(_ count: Int, _ data: () -> Data?) -> Data? {
                guard count > 0, count <= min(left, limits.maximumChunkByteCount), let data = data() else { return nil }
                left -= data.count
                return data
            }
            let profile = page.icc.flatMap { icc in kept(page.icc_size) { Data(bytes: icc, count: page.icc_size) } }
            metadata.colorProfile = profile.flatMap { ICCProfile.fits($0, model) ? $0 : nil }
            metadata.hasIgnoredColorProfile = metadata.colorProfile == nil && page.icc != nil
            metadata.xmp = page.xmp.flatMap { xmp in kept(page.xmp_size) { Data(bytes: xmp, count: page.xmp_size) } }
            if let range = directory.range(33_723) {
                // The record begins with a tag marker. Writers store it as bytes or, padded, as numbers.
                metadata.iptc = kept(range.count) {
                    directory.structure.bytes[range].first == 0x1C ? Data(directory.structure.bytes[range]) : nil
                }
            }
            metadata.exif = directory.exif(maximumByteCount: min(left, limits.maximumChunkByteCount))
            let resolution = ImageResolution(
                horizontal: page.horizontal_resolution, vertical: page.vertical_resolution)
            metadata.resolution = resolution.isValid ? resolution : nil
            return metadata
        }
    }
#endif
