#if HEIF
    import AlcedoBoxes
    import AlcedoCore
    import FoundationEssentials

    /// The properties of a file that are known before its pixels are decoded.
    struct HEIFHeader {
        let picture: HEIFPicture
        /// The image whose luminance is the alpha, or nil. It may have another size.
        let alpha: HEIFPicture?
        /// Whether color is stored multiplied by alpha.
        let isPremultiplied: Bool
        /// The part of the coded image that is shown.
        let crop: PixelRect
        /// The orientation of the rows after cropping.
        let orientation: ImageOrientation
        let metadata: ImageMetadata
        /// The color space of the code points, when the file has no ICC profile; nil when they are reserved.
        private let colorDescription: ColorDescription?
        /// The ICC profile of decoded samples; nil for sRGB.
        let sampleProfile: Data?
        /// Whether bytes of the metadata are missing.
        let isMissingMetadata: Bool
        /// The damage of the alpha, of other items and of the metadata; nil when none was found.
        let damage: ImageDamage?

        /// Reads the properties. `limits` applies to pixels and to metadata. Larger metadata is dropped.
        ///
        /// - Throws: ``/AlcedoCore/ImageDecodingError``.
        init(
            _ container: HEIFContainer, _ bytes: UnsafeBufferPointer<UInt8>, limits: DecodingLimits
        ) throws(ImageDecodingError) {
            if let meta = container.meta {
                let items = try HEIFItems(meta)
                if let primary = items.primary, let item = items.items[primary] {
                    try self.init(
                        primary, item, of: items, bytes, isTruncated: container.isTruncated, limits: limits)
                    return
                }
            }
            guard let movie = container.movie, let track = try HEIFTrack(movie) else {
                throw container.error()
            }
            var metadata = KeptMetadata(bytes, limits)
            metadata.result.colorProfile = metadata.kept(track.properties.profile)
            try self.init(
                HEIFPicture([track.frame], track.properties), alpha: nil, isPremultiplied: false,
                track.properties, metadata)
        }

        /// Reads the properties of an image item.
        ///
        /// - Parameter isTruncated: Whether bytes of other items may be missing, so that they are no damage.
        /// - Throws: ``/AlcedoCore/ImageDecodingError``.
        init(
            _ number: Int, _ item: HEIFItems.Item, of items: HEIFItems, _ bytes: UnsafeBufferPointer<UInt8>,
            isTruncated: Bool, limits: DecodingLimits
        ) throws(ImageDecodingError) {
            let properties = try HEIFProperties(item, of: items)
            if let size = properties.size { try limits.check(size, format: .gray8) }
            let picture = try HEIFPicture(number, item, properties, of: items, bytes, limits)
            var alpha: HEIFPicture?
            var damage: ImageDamage?
            var isPremultiplied = false
            for source in items.sources(of: number, "auxl") {
                guard source != number, let item = items.items[source],
                    let type = HEIFProperties.auxiliaryType(of: item, of: items), Self.alphaTypes.contains(type)
                else { continue }
                do throws(ImageDecodingError) {
                    let properties = try HEIFProperties(item, of: items)
                    let found = try HEIFPicture(source, item, properties, of: items, bytes, limits)
                    // If the image is whole and no box is cut off, the alpha is not among missing bytes.
                    guard isTruncated || picture.end > bytes.count || found.end <= bytes.count else {
                        damage = Self.alphaDamage
                        break
                    }
                    alpha = found
                    isPremultiplied = items.targets(of: number, "prem").contains(source)
                } catch {
                    let isDamage = [.corrupt, .unsupportedVariant].contains(error.code)
                    let isWhole = !isTruncated && picture.end <= bytes.count
                    guard isDamage || error.code == .truncated && isWhole else { throw error }
                    damage = Self.alphaDamage
                }
                break
            }
            var metadata = KeptMetadata(bytes, limits)
            metadata.read(items, of: number, properties)
            if damage == nil, !isTruncated, items.hasItem(outside: bytes.count) {
                damage = ImageDamage(
                    .harmless, ImageDecodingError(.corrupt, "HEIF: an item is outside of the file"))
            }
            if damage == nil, items.hasShortEntry {
                damage = ImageDamage(.harmless, ImageDecodingError(.corrupt, "HEIF: the entry of an item is too short"))
            }
            self.init(
                picture, alpha: alpha, isPremultiplied: isPremultiplied, properties, metadata, itemDamage: damage)
        }

        /// Returns the header of a thumbnail in the file of an opaque image, or nil if there is none that shows the
        /// whole image in the same orientation.
        ///
        /// - Parameters:
        ///   - image: The header of the image.
        ///   - bytes: The bytes of the file, or the beginning with its boxes.
        ///   - limits: The limits on the thumbnail.
        static func thumbnail(
            of image: HEIFHeader, _ bytes: UnsafeBufferPointer<UInt8>, limits: DecodingLimits
        ) -> HEIFHeader? {
            guard image.alpha == nil, let meta = HEIFContainer(bytes).meta, let items = try? HEIFItems(meta),
                let primary = items.primary
            else { return nil }
            // A file has one or two thumbnails, unless it is to waste time.
            for number in items.sources(of: primary, "thmb").prefix(4) where number != primary {
                guard let item = items.items[number], item.type == "hvc1",
                    let header = try? HEIFHeader(number, item, of: items, bytes, isTruncated: true, limits: limits),
                    header.alpha == nil, header.orientation == image.orientation,
                    header.isMonochrome == image.isMonochrome,
                    PreviewBackground.isUsable(header.crop.size, for: image.crop.size),
                    (try? header.check(limits, format: .rgba8)) != nil
                else { continue }
                return header
            }
            return nil
        }

        /// The damage of an image that is opaque, at least in part, because its alpha cannot be decoded.
        static let alphaDamage = ImageDamage(
            .harmless, ImageDecodingError(.corrupt, "HEIF: the alpha of the image is damaged"))

        private init(
            _ picture: HEIFPicture, alpha: HEIFPicture?, isPremultiplied: Bool, _ properties: HEIFProperties,
            _ metadata: KeptMetadata, itemDamage: ImageDamage? = nil
        ) {
            self.picture = picture
            self.alpha = alpha
            self.isPremultiplied = isPremultiplied
            let layout = HEIFLayout(properties.transforms, of: picture.size)
            crop = layout.crop
            orientation = layout.orientation
            self.metadata = metadata.result
            // An ICC profile takes precedence. Source: ISO/IEC 23008-12, section 6.5.5.
            let isGray = picture.sequence.chroma == .monochrome
            let profile = ICCProfile.ofSamples(metadata.result.colorProfile, isGray: isGray)
            colorDescription = profile == nil ? picture.color.description : nil
            sampleProfile = profile ?? colorDescription?.profile(isGray: isGray)
            isMissingMetadata = metadata.isMissingBytes
            let metadataError = ImageDecodingError(.truncated, "HEIF: the data ends within the metadata")
            damage = itemDamage ?? (isMissingMetadata ? ImageDamage(.harmless, metadataError) : nil)
        }

        private static let alphaTypes = ["urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", "urn:mpeg:hevc:2015:auxid:1"]

        var codedSize: PixelSize { picture.size }

        var isMonochrome: Bool { picture.sequence.chroma == .monochrome }

        /// The offset after the last byte that the pixels need.
        var end: Int { max(picture.end, alpha?.end ?? 0) }

        var info: ImageInfo {
            let hasAlpha = alpha != nil
            let model: ColorModel =
                if isMonochrome { hasAlpha ? .grayAlpha : .gray } else if picture.color.matrix == 0 {
                    hasAlpha ? .rgba : .rgb
                } else {
                    .yCbCr
                }
            var info = ImageInfo(
                format: .heif, size: crop.size, orientation: orientation, hasAlpha: hasAlpha,
                bitDepth: picture.sequence.bitDepth, colorModel: model, metadata: metadata)
            info.colorDescription = colorDescription
            return info
        }

        /// Returns the format of the decoded rows for a requested format.
        func format(for requested: PixelFormat) -> PixelFormat {
            requested.available(isGray: isMonochrome && alpha == nil, isDeep: picture.sequence.bitDepth > 8)
        }

        /// Throws `exceedsLimit` for an image that exceeds the limits in a pixel format.
        func check(_ limits: DecodingLimits, format: PixelFormat) throws(ImageDecodingError) {
            try picture.check(limits, format: format)
            try alpha?.check(limits, format: .gray8)
        }

        /// Returns the size of the image that is decoded with these options.
        func decodedSize(_ options: DecodingOptions) -> PixelSize {
            let size = BoxReduction(from: crop.size, orientation: orientation, towards: options.averagingTarget).size(
                of: crop.size)
            return options.appliesOrientation && orientation.swapsSides ? size.transposed : size
        }

        /// Returns the image for stored pixels, with the orientation applied when the options request it.
        func image(_ pixels: PixelBuffer, _ options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
            let isUpright = options.appliesOrientation
            return DecodedImage(
                pixels: isUpright ? try pixels.upright(from: orientation) : pixels,
                colorProfile: sampleProfile, orientation: isUpright ? .up : orientation, format: .heif)
        }
    }

    /// Metadata within the limits.
    private struct KeptMetadata {
        private let bytes: UnsafeBufferPointer<UInt8>
        private let chunkLimit: Int
        private var rest: Int
        var result = ImageMetadata()
        private(set) var isMissingBytes = false

        init(_ bytes: UnsafeBufferPointer<UInt8>, _ limits: DecodingLimits) {
            self.bytes = bytes
            chunkLimit = limits.maximumChunkByteCount
            rest = limits.maximumMetadataByteCount
        }

        /// Reads the profile, and the items that describe an image. Sources: ISO/IEC 23008-12, annex A.2 and A.3.
        mutating func read(_ items: HEIFItems, of number: Int, _ properties: HEIFProperties) {
            result.colorProfile = kept(properties.profile)
            for source in items.sources(of: number, "cdsc") {
                guard let item = items.items[source] else { continue }
                if item.type == "Exif", result.exif == nil { result.exif = exif(item) }
                if item.contentType == "application/rdf+xml", result.xmp == nil { result.xmp = payload(item) }
            }
        }

        /// Returns a range of the file, or nil when it is empty, missing or exceeds the limits.
        mutating func kept(_ range: Range<Int>?) -> Data? {
            guard let range, !range.isEmpty, range.count <= rest, range.count <= chunkLimit else { return nil }
            guard range.upperBound <= bytes.count else {
                isMissingBytes = true
                return nil
            }
            rest -= range.count
            return Data(bytes[range])
        }

        private mutating func payload(_ item: HEIFItems.Item) -> Data? {
            var data = Data()
            for extent in item.extents ?? [] {
                guard let part = kept(extent) else { return nil }
                data += part
            }
            return data.isEmpty ? nil : data
        }

        /// The number of bytes before the data is stored in front of them.
        private mutating func exif(_ item: HEIFItems.Item) -> Data? {
            guard let data = payload(item), data.count > 4 else { return nil }
            let skipped = data.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            guard skipped < data.count - 4 else { return nil }
            return ImageMetadata.tiff(data.dropFirst(4 + skipped))
        }
    }
#endif
