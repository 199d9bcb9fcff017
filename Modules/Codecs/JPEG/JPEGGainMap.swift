import AlcedoCore
import FoundationEssentials

/// The gain map of a file: a second JPEG file after the image, which an index names.
///
/// The index is that of the Multi-Picture Format. The numbers of the map are in its own file, in the binary form of ISO
/// 21496-1 or in XMP, or, in Apple's own form, in the maker notes of the image. Source: Android, "Ultra HDR image
/// format", 1.1.
struct JPEGGainMap {
    private let metadata: GainMapMetadata
    /// The profile of the HDR image: PQ, with the primary colors of the image.
    private let colorProfile: Data
    private let reader: JPEGReader
    private let imageSize: PixelSize

    /// The number of images of an index that are searched for a map. Files have two or three, and further ones could
    /// repeat the bytes of the whole file.
    private static let maximumImageCount = 3

    /// Returns the map of an image, if the options request HDR, the file has one that can be used, and the limits admit
    /// the HDR image. Otherwise, returns the damage that tells why not. The bytes must outlive the map.
    ///
    /// - Throws: ``ImageDecodingError`` `outOfMemory`, and `decoderUnavailable` after a cancellation.
    static func find(
        _ image: JPEGReader, _ bytes: UnsafeBufferPointer<UInt8>, _ options: DecodingOptions
    ) throws(ImageDecodingError) -> (map: JPEGGainMap?, damage: ImageDamage?) {
        guard options.dynamicRange == .high else { return (nil, nil) }
        return try DecodedGainMap.ignoringDamage(of: "JPEG") { () throws(ImageDecodingError) in
            guard let map = try JPEGGainMap(of: image, bytes, options.limits) else { return nil }
            try DecodedGainMap.check(map.imageSize, byteCount: map.byteCount(image, options), options.limits)
            return map
        }
    }

    /// Returns nil when the file has no map. Throws ``ImageDecodingError`` when it cannot be used.
    private init?(
        of image: JPEGReader, _ bytes: UnsafeBufferPointer<UInt8>, _ limits: DecodingLimits
    ) throws(ImageDecodingError) {
        guard let info = image.info else { return nil }
        let segments = JPEGSegments(bytes)
        let found = try Self.find(segments, bytes) { image.properties(keepsMetadata: true).metadata.exif }
        guard let (metadata, map) = found else {
            guard segments.declaresGainMap else { return nil }
            throw ImageDecodingError(.corrupt, "the gain map is missing")
        }
        let reader = try JPEGReader(map, limits: limits)
        let models: [ColorModel] = [.gray, .rgb, .yCbCr]
        guard let size = reader.info?.size, let model = reader.info?.colorModel, models.contains(model),
            size.width <= info.size.width, size.height <= info.size.height
        else { throw ImageDecodingError(.corrupt, "the gain map is larger than the image, or has inks") }
        guard models.contains(info.colorModel) else {
            throw ImageDecodingError(.unsupportedVariant, "the gain map is that of an image with inks")
        }
        colorProfile = try DecodedGainMap.colorProfile(
            of: info.metadata.colorProfile, metadata,
            otherPrimaries: reader.info?.metadata.colorProfile.flatMap(ICCProfile.primariesWithCurveOfSRGB))
        self.metadata = metadata
        self.reader = reader
        imageSize = info.size
    }

    /// Returns the numbers and the bytes of the first image of the index that is a gain map.
    private static func find(
        _ segments: JPEGSegments, _ bytes: UnsafeBufferPointer<UInt8>, exif: () -> Data?
    ) throws(ImageDecodingError) -> (GainMapMetadata, UnsafeBufferPointer<UInt8>)? {
        // A map whose end is missing is damaged, which its decoder finds.
        let images = segments.furtherImages.lazy
            .map { UnsafeBufferPointer(rebasing: bytes[$0.clamped(to: 0..<bytes.count)]) }
            .filter { $0.starts(with: [0xFF, 0xD8, 0xFF]) }
        for image in images.prefix(maximumImageCount) {
            if let metadata = try JPEGSegments(image).gainMapMetadata(exif: exif) { return (metadata, image) }
        }
        return nil
    }

    /// Decodes the samples, which can be done once. Returns nil and the damage of a map that cannot be decoded.
    ///
    /// - Throws: ``ImageDecodingError`` `outOfMemory`.
    func decode(
        _ limits: DecodingLimits
    ) throws(ImageDecodingError) -> (map: DecodedGainMap?, damage: ImageDamage?) {
        try DecodedGainMap.ignoringDamage(of: "JPEG") { () throws(ImageDecodingError) in
            let pixels = try JPEGPartialImage.decode(reader, .ofGainMap(limits)).pixels
            return DecodedGainMap(pixels: pixels, metadata: metadata, colorProfile: colorProfile)
        }
    }

    /// Returns the number of bytes that decoding the map, the image and the HDR image holds at once.
    ///
    /// - Parameters:
    ///   - image: The reader of the image.
    ///   - options: The options for the HDR image.
    func byteCount(_ image: JPEGReader, _ options: DecodingOptions) throws(ImageDecodingError) -> Int {
        let orientation = image.info?.orientation ?? .up
        var base = options.forGainMap
        base.isFiltered = options.passesRows && (!options.appliesOrientation || orientation == .up)
        return try reader.byteCount(.ofGainMap(options.limits)).addingClamped(image.byteCount(base))
            .addingClamped(DecodedGainMap.byteCount(of: imageSize, orientation, options))
    }
}

extension JPEGSegments {
    /// Whether the image states that the file has a gain map.
    var declaresGainMap: Bool {
        let space = Data("http://ns.adobe.com/hdr-gain-map/1.0/".utf8)
        return gainMap != nil || xmp.map { Data($0).firstRange(of: space) != nil } == true
    }

    /// Returns the numbers of a gain map, if this is the file of one. Those in XMP count when the binary ones are
    /// missing or cannot be used.
    ///
    /// - Parameter exif: Returns the EXIF data of the image.
    fileprivate func gainMapMetadata(exif: () -> Data?) throws(ImageDecodingError) -> GainMapMetadata? {
        guard let gainMap else { return try xmpMetadata(exif: exif) }
        do throws(ImageDecodingError) {
            return try GainMapMetadata(iso: RawSpan(_unsafeElements: gainMap))
        } catch {
            guard let metadata = try xmpMetadata(exif: exif) else { throw error }
            return metadata
        }
    }

    private func xmpMetadata(exif: () -> Data?) throws(ImageDecodingError) -> GainMapMetadata? {
        guard let packet = xmp.map({ Data($0) }) else { return nil }
        if let metadata = try GainMapMetadata(xmp: packet) { return metadata }
        return try GainMapMetadata(appleXMP: packet, exif: exif)
    }
}
