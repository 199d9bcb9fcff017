#if HEIF
    import AlcedoBoxes
    import AlcedoCore
    import FoundationEssentials

    /// The gain map of a file: the second image of an item `tmap`, whose payload has the numbers, or the auxiliary
    /// image of Apple's cameras. The image that is shown is in SDR in both cases.
    ///
    /// Sources: ISO/IEC 23008-12:2022, amendment 1; ISO 21496-1:2025.
    struct HEIFGainMap {
        private let header: HEIFHeader
        private let metadata: GainMapMetadata
        /// The profile of the HDR image.
        private let colorProfile: Data

        private static let auxiliaryType = "urn:com:apple:photo:2020:aux:hdrgainmap"
        /// The maximum number of bytes that are read of the numbers, which have at most 142.
        private static let maximumByteCount = 256

        /// Returns the map of an image, if the options request HDR, the file has one that can be used, and the limits
        /// admit the HDR image. Otherwise, returns the damage that tells why not.
        ///
        /// - Throws: ``/AlcedoCore/ImageDecodingError`` `outOfMemory`.
        static func find(
            _ image: HEIFHeader, _ bytes: UnsafeBufferPointer<UInt8>, _ options: DecodingOptions
        ) throws(ImageDecodingError) -> (map: HEIFGainMap?, damage: ImageDamage?) {
            guard options.dynamicRange == .high else { return (nil, nil) }
            return try DecodedGainMap.ignoringDamage(of: "HEIF") { () throws(ImageDecodingError) in
                guard let map = try HEIFGainMap(of: image, bytes, options.limits) else { return nil }
                try DecodedGainMap.check(image.crop.size, byteCount: map.byteCount(image, options), options.limits)
                return map
            }
        }

        /// Returns the decoded map, if ``find(_:_:_:)`` finds one that can be decoded. Otherwise, returns the damage
        /// that tells why not.
        static func decode(
            _ image: HEIFHeader, _ bytes: UnsafeBufferPointer<UInt8>, _ options: DecodingOptions, _ time: DecodingTime
        ) throws(ImageDecodingError) -> (map: DecodedGainMap?, damage: ImageDamage?) {
            let (map, damage) = try find(image, bytes, options)
            guard let map else { return (nil, damage) }
            return try DecodedGainMap.ignoringDamage(of: "HEIF") { () throws(ImageDecodingError) in
                let rows = HEIFRows(map.header, bytes, options: .ofGainMap(options.limits), time: time)
                return DecodedGainMap(pixels: try rows.pixels(), metadata: map.metadata, colorProfile: map.colorProfile)
            }
        }

        /// Returns nil when the file has no map.
        ///
        /// - Throws: ``/AlcedoCore/ImageDecodingError`` when the map cannot be used.
        private init?(
            of image: HEIFHeader, _ bytes: UnsafeBufferPointer<UInt8>, _ limits: DecodingLimits
        ) throws(ImageDecodingError) {
            guard let meta = HEIFContainer(bytes).meta else { return nil }
            let items = try HEIFItems(meta)
            guard let primary = items.primary else { return nil }
            let derived = items.sources(of: primary, "dimg").first { items.items[$0]?.type == "tmap" }
            let auxiliary = items.sources(of: primary, "auxl").first { source in
                items.items[source].flatMap { HEIFProperties.auxiliaryType(of: $0, of: items) } == Self.auxiliaryType
            }
            guard let number = derived.map({ items.targets(of: $0, "dimg").last ?? 0 }) ?? auxiliary else { return nil }
            guard number != primary, let item = items.items[number] else {
                throw ImageDecodingError(.corrupt, "the gain map is missing")
            }
            header = try HEIFHeader(number, item, of: items, bytes, isTruncated: true, limits: limits)
            var otherPrimaries: UInt8?
            if let derived, let item = items.items[derived] {
                guard items.targets(of: derived, "dimg") == [primary, number] else {
                    throw ImageDecodingError(.unsupportedVariant, "the gain map is that of another image")
                }
                metadata = try Self.metadata(item, bytes)
                // The properties of the item describe the HDR image.
                let properties = try HEIFProperties(item, of: items)
                otherPrimaries = properties.color.flatMap { UInt8(exactly: $0.primaries) }
            } else {
                let exif = image.metadata.exif
                guard let xmp = header.metadata.xmp, let found = try GainMapMetadata(appleXMP: xmp, exif: { exif })
                else { throw ImageDecodingError(.corrupt, "the gain map is without numbers") }
                metadata = found
            }
            guard image.alpha == nil, header.alpha == nil, header.orientation == image.orientation,
                header.crop.size.width <= image.crop.size.width, header.crop.size.height <= image.crop.size.height
            else {
                throw ImageDecodingError(
                    .unsupportedVariant,
                    "the gain map is larger than the image or turned otherwise, or one of them has alpha")
            }
            try header.check(limits, format: header.format(for: .gray8))
            colorProfile = try DecodedGainMap.colorProfile(
                of: image.sampleProfile, metadata, otherPrimaries: otherPrimaries)
        }

        /// Reads the numbers in the payload of the item that is derived from the image and the map.
        private static func metadata(
            _ item: HEIFItems.Item, _ bytes: UnsafeBufferPointer<UInt8>
        ) throws(ImageDecodingError) -> GainMapMetadata {
            let extents = try HEIFItems.location(of: item)
            guard extents.count == 1, extents[0].upperBound <= bytes.count else {
                throw ImageDecodingError(.corrupt, "the gain map is without numbers")
            }
            var reader = BoxReader(bytes, extents[0])
            guard try reader.number(1) == 0 else {
                throw ImageDecodingError(.unsupportedVariant, "the gain map has another version")
            }
            let numbers = UnsafeBufferPointer(rebasing: bytes[reader.rest.prefix(maximumByteCount)])
            return try GainMapMetadata(iso: RawSpan(_unsafeElements: numbers))
        }

        /// Returns the maximum number of bytes that decoding holds: what decoding the map holds, and then its samples,
        /// what decoding the image holds, and the HDR image.
        func byteCount(_ image: HEIFHeader, _ options: DecodingOptions) -> Int {
            let size = header.crop.size
            let samples = PixelBuffer.byteCount(size: size, format: header.format(for: .gray8)) ?? .max
            return max(
                header.byteCount(.ofGainMap(options.limits), isIncremental: false),
                samples.addingClamped(image.byteCount(options.forGainMap, isIncremental: false))
                    .addingClamped(DecodedGainMap.byteCount(of: image.crop.size, image.orientation, options)))
        }
    }
#endif
