import AlcedoCore
import FoundationEssentials

/// The gain map of a file: a second JPEG file after the image, which an index names.
///
/// The index is that of the Multi-Picture Format. The numbers of the map are in its own file, in the binary form of ISO
/// 21496-1 or in XMP. Source: Android, "Ultra HDR image format", 1.1.
struct JPEGGainMap {
    private let metadata: GainMapMetadata
    /// The profile of the HDR image: PQ, with the primary colors of the image.
    private let colorProfile: Data
    private let reader: JPEGReader
    private let imageSize: PixelSize

    /// Returns the map of an image, if the options request HDR and the file has one that can be used. Otherwise,
    /// returns the damage that tells why not. The bytes must outlive the map.
    ///
    /// - Throws: ``ImageDecodingError`` `outOfMemory`.
    static func find(
        _ image: JPEGReader, _ bytes: UnsafeBufferPointer<UInt8>, _ options: DecodingOptions
    ) throws(ImageDecodingError) -> (map: JPEGGainMap?, damage: ImageDamage?) {
        guard options.dynamicRange == .high else { return (nil, nil) }
        return try ignoringDamage { () throws(ImageDecodingError) in
            try JPEGGainMap(of: image, bytes, options.limits)
        }
    }

    /// Calls `body`. Makes harmless damage of an error that only the map has.
    private static func ignoringDamage<Map>(
        _ body: () throws(ImageDecodingError) -> Map?
    ) throws(ImageDecodingError) -> (map: Map?, damage: ImageDamage?) {
        do throws(ImageDecodingError) { return (try body(), nil) } catch {
            guard error.code != .outOfMemory else { throw error }
            let message = "JPEG: the gain map is ignored: \(error.message)"
            return (nil, ImageDamage(.harmless, ImageDecodingError(error.code, message)))
        }
    }

    /// The options for decoding the map. Damage that changes samples makes it unusable.
    private static func options(_ limits: DecodingLimits) -> DecodingOptions {
        DecodingOptions(limits: limits, appliesOrientation: false, pixelFormat: .gray8, tolerance: .harmless)
    }

    /// Returns nil when the file has no map. Throws ``ImageDecodingError`` when it cannot be used.
    private init?(
        of image: JPEGReader, _ bytes: UnsafeBufferPointer<UInt8>, _ limits: DecodingLimits
    ) throws(ImageDecodingError) {
        guard let info = image.info else { return nil }
        let segments = JPEGSegments(bytes)
        guard let (metadata, map) = try Self.find(segments, bytes) else {
            guard segments.declaresGainMap else { return nil }
            throw ImageDecodingError(.corrupt, "the gain map is missing")
        }
        let reader = try JPEGReader(map, limits: limits)
        let models: [ColorModel] = [.gray, .rgb, .yCbCr]
        guard let size = reader.info?.size, let model = reader.info?.colorModel, models.contains(model),
            size.width <= info.size.width, size.height <= info.size.height
        else { throw ImageDecodingError(.corrupt, "the gain map is larger than the image, or has inks") }
        // Gains of another space could be used only with the colors of that space.
        let mapProfile = reader.info?.metadata.colorProfile
        guard models.contains(info.colorModel), let primaries = Self.primaries(info.metadata.colorProfile),
            metadata.usesBaseColorSpace || mapProfile != nil && Self.primaries(mapProfile) == primaries,
            let profile = ColorDescription(primaries: primaries, transfer: 16)?.profile(isGray: false)
        else {
            throw ImageDecodingError(
                .unsupportedVariant, "the gain map is that of an image in another color space than sRGB and Display P3")
        }
        self.metadata = metadata
        self.reader = reader
        colorProfile = profile
        imageSize = info.size
    }

    /// Returns the numbers and the bytes of the first image of the index that is a gain map.
    private static func find(
        _ segments: JPEGSegments, _ bytes: UnsafeBufferPointer<UInt8>
    ) throws(ImageDecodingError) -> (GainMapMetadata, UnsafeBufferPointer<UInt8>)? {
        for range in segments.furtherImages {
            // A map whose end is missing is damaged, which its decoder finds.
            let part = UnsafeBufferPointer(rebasing: bytes[range.clamped(to: 0..<bytes.count)])
            guard part.starts(with: [0xFF, 0xD8, 0xFF]) else { continue }
            if let metadata = try JPEGSegments(part).gainMapMetadata() { return (metadata, part) }
        }
        return nil
    }

    /// Returns the code point of the primary colors of an image whose samples have the curve of sRGB, or nil.
    private static func primaries(_ profile: Data?) -> UInt8? {
        profile.map(ICCProfile.primariesWithCurveOfSRGB) ?? 1
    }

    /// Decodes the samples, which can be done once. Returns nil and the damage of a map that cannot be decoded.
    ///
    /// - Throws: ``ImageDecodingError`` `exceedsLimit` when the HDR image exceeds the limits, or `outOfMemory`.
    func decode(
        _ limits: DecodingLimits
    ) throws(ImageDecodingError) -> (map: DecodedGainMap?, damage: ImageDamage?) {
        try limits.check(imageSize, format: .rgba16)
        return try Self.ignoringDamage { () throws(ImageDecodingError) in
            let pixels = try JPEGPartialImage.decode(reader, Self.options(limits)).pixels
            return DecodedGainMap(pixels: pixels, metadata: metadata, colorProfile: colorProfile)
        }
    }

    /// Returns the number of bytes that decoding the map, the image and the HDR image holds at once.
    ///
    /// - Parameters:
    ///   - image: The reader of the image.
    ///   - options: The options for the HDR image.
    func byteCount(_ image: JPEGReader, _ options: DecodingOptions) throws(ImageDecodingError) -> Int {
        let isRotated = options.appliesOrientation && image.info?.orientation != .up
        let passesRows = options.passesRows && !isRotated
        var base = options.forGainMap
        base.isFiltered = passesRows
        let rowCount = passesRows ? 1 : imageSize.height
        let output = PixelBuffer.byteCount(
            size: PixelSize(width: imageSize.width, height: rowCount), format: .rgba16)
        let upright = isRotated ? PixelBuffer.byteCount(size: imageSize.transposed, format: .rgba16) : 0
        return try [output ?? .max, upright ?? .max, image.byteCount(base), GainMapRows.byteCount(of: imageSize)]
            .reduce(reader.byteCount(Self.options(options.limits))) { $0.addingClamped($1) }
    }
}

/// The samples and the numbers of a gain map.
struct DecodedGainMap {
    /// The samples: gray8 or RGBA8.
    let pixels: PixelBuffer
    let metadata: GainMapMetadata
    /// The profile of the HDR image.
    let colorProfile: Data

    /// Returns the HDR image of an image that was decoded with ``AlcedoCore/DecodingOptions/forGainMap``.
    func applied(to image: DecodedImage) throws(ImageDecodingError) -> DecodedImage {
        let collector = PixelRowCollector()
        do { try image.sendRows(to: GainMapRows(self, next: collector)) } catch {
            // Consumers of rows may throw any error. The two here throw only errors of this type.
            throw error as? ImageDecodingError ?? ImageDecodingError(.decoderFailed, "JPEG: \(error)")
        }
        guard var result = collector.image else { throw ImageDecodingError.noMemory(for: image.size) }
        result.format = image.format
        result.damage = image.damage
        return result
    }
}

extension DecodingOptions {
    /// The options for decoding the image to which a gain map is applied: in its stored order, in RGBA8 at full size.
    var forGainMap: DecodingOptions {
        var options = self
        options.pixelFormat = .rgba8
        options.target = nil
        options.appliesOrientation = false
        return options
    }
}

extension JPEGSegments {
    /// Whether the image states that the file has a gain map.
    var declaresGainMap: Bool {
        let space = Data("http://ns.adobe.com/hdr-gain-map/1.0/".utf8)
        return gainMap != nil || xmp.map { Data($0).firstRange(of: space) != nil } == true
    }

    /// Returns the numbers of a gain map, if this is the file of one.
    fileprivate func gainMapMetadata() throws(ImageDecodingError) -> GainMapMetadata? {
        if let gainMap { return try GainMapMetadata(iso: RawSpan(_unsafeElements: gainMap)) }
        guard let xmp else { return nil }
        return try GainMapMetadata(xmp: Data(xmp))
    }
}
