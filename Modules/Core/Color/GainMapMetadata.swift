import AlcedoLibc
package import FoundationEssentials

/// The numbers of a gain map, an image whose samples tell by how much another image becomes brighter in HDR.
///
/// For each of red, green and blue, in light of which 1 is the white of the other image:
///
/// 1. *r* is the sample of the map, from 0 to 1, to the power of 1 / `gamma`.
/// 2. The gain is 2 to the power of `minimum` (1 − *r*) + `maximum` *r*, for a display that can show all of it.
/// 3. The result is (*light* + `baseOffset`) × *gain* − `alternateOffset`.
///
/// The maps of Apple's own form have another gain: see ``Channel/isLinear``.
///
/// Source: ISO 21496-1:2025; Adobe, "Gain map", 1.0; Android, "Ultra HDR image format", 1.1.
package struct GainMapMetadata: Sendable, Equatable {
    /// The numbers of red, green or blue.
    package struct Channel: Sendable, Equatable {
        /// The binary logarithms of the gains of the lowest and the highest sample.
        package var minimum: Double
        package var maximum: Double
        package var gamma = 1.0
        package var baseOffset = 1.0 / 64
        package var alternateOffset = 1.0 / 64
        /// Whether the gain grows in proportion to the light of the sample, by the curve of BT.709, from 1 to that of
        /// the highest sample. Default: false.
        package var isLinear = false

        /// Returns the gain for a sample of the map, from 0 to 1.
        package func gain(_ sample: Double) -> Double {
            guard !isLinear else { return 1 + (exp2(maximum) - 1) * TransferFunction.bt709.light(sample) }
            let r = pow(sample, 1 / gamma)
            return exp2(minimum * (1 - r) + maximum * r)
        }

        /// Whether all numbers are in a range that photos can need. No gain or result is then infinite.
        fileprivate var isValid: Bool {
            // The comparisons are false for NaN.
            minimum >= -16 && minimum <= maximum && maximum <= 16 && gamma >= 1.0 / 64 && gamma <= 64
                && abs(baseOffset) <= 1 && abs(alternateOffset) <= 1
        }
    }

    /// The numbers of red, green and blue.
    package var channels: [Channel]
    /// Whether the gains are those of the color space of the image. If false, they are those of another one.
    package var usesBaseColorSpace = true

    /// Reads the numbers from XMP. Returns nil when the packet has none.
    ///
    /// - Throws: ``ImageDecodingError`` `corrupt` for numbers that are missing, damaged or out of range, and
    ///   `unsupportedVariant` for another version, and for a map of an image that is HDR itself.
    package init?(xmp: Data) throws(ImageDecodingError) {
        guard let properties = GainMapProperties(xmp, namespace: "http://ns.adobe.com/hdr-gain-map/1.0/"),
            let version = properties.texts("Version")
        else { return nil }
        guard version.count == 1, version[0].hasPrefix("1.") else {
            throw ImageDecodingError(.unsupportedVariant, "the gain map has another version")
        }
        guard properties.texts("BaseRenditionIsHDR")?.first?.lowercased() != "true" else { throw Self.isHDR }
        let minimums = try properties.numbers("GainMapMin", default: 0)
        let maximums = try properties.numbers("GainMapMax")
        let gammas = try properties.numbers("Gamma", default: 1)
        let baseOffsets = try properties.numbers("OffsetSDR", default: 1.0 / 64)
        let alternateOffsets = try properties.numbers("OffsetHDR", default: 1.0 / 64)
        let headrooms = try properties.numbers("HDRCapacityMin", default: 0) + properties.numbers("HDRCapacityMax")
        try self.init(
            (0..<3).map {
                Channel(
                    minimum: minimums[$0], maximum: maximums[$0], gamma: gammas[$0], baseOffset: baseOffsets[$0],
                    alternateOffset: alternateOffsets[$0])
            }, baseHeadroom: headrooms[0], alternateHeadroom: headrooms[3])
    }

    /// Reads the numbers from the binary form of ISO 21496-1, after the name of its segment.
    ///
    /// - Throws: ``ImageDecodingError``, as the initializer for XMP does. The form of a draft, which libultrahdr wrote
    ///   until 2024 with numbers that are not logarithms, has another version.
    package init(iso bytes: RawSpan) throws(ImageDecodingError) {
        var reader = GainMapReader(bytes)
        // The minimum version, and that of the writer
        guard try reader.number(2) == 0 else {
            throw ImageDecodingError(.unsupportedVariant, "the gain map has another version")
        }
        _ = try reader.number(2)
        let flags = try reader.number(1)
        // The third and fourth flag are those of a draft, which libultrahdr writes: the image is HDR, and all fractions
        // have one denominator.
        guard flags & 4 == 0 else { throw Self.isHDR }
        if flags & 8 != 0 { reader.denominator = try reader.number(4) }
        let baseHeadroom = try reader.fraction()
        let alternateHeadroom = try reader.fraction()
        var channels: [Channel] = []
        for _ in 0..<(flags & 0x80 != 0 ? 3 : 1) {
            channels.append(
                Channel(
                    minimum: try reader.fraction(isSigned: true), maximum: try reader.fraction(isSigned: true),
                    gamma: try reader.fraction(), baseOffset: try reader.fraction(isSigned: true),
                    alternateOffset: try reader.fraction(isSigned: true)))
        }
        if channels.count == 1 { channels += [channels[0], channels[0]] }
        try self.init(channels, baseHeadroom: baseHeadroom, alternateHeadroom: alternateHeadroom)
        usesBaseColorSpace = flags & 0x40 != 0
    }

    /// Reads the numbers of a map of Apple's own form from XMP. Returns nil when the packet has no version of it. The
    /// gain of the highest sample is in the packet since the second version, and was in the maker notes before.
    ///
    /// Source: Apple, "Applying Apple HDR effect to your photos".
    ///
    /// - Parameters:
    ///   - xmp: The packet of the map.
    ///   - exif: Returns the EXIF data of the image, starting with the TIFF header. Called only if needed.
    /// - Throws: ``ImageDecodingError`` `corrupt` when the gain is missing, damaged or out of range.
    package init?(appleXMP xmp: Data, exif: () -> Data?) throws(ImageDecodingError) {
        guard let properties = GainMapProperties(xmp, namespace: "http://ns.apple.com/HDRGainMap/1.0/"),
            properties.texts("HDRGainMapVersion") != nil
        else { return nil }
        let stops: Double
        if properties.texts("HDRGainMapHeadroom") != nil {
            stops = log2(try properties.numbers("HDRGainMapHeadroom")[0])
        } else {
            guard let found = exif().flatMap(AppleMakerNotes.stops) else { throw Self.isDamaged }
            stops = found
        }
        // False for NaN
        guard stops >= 0 else { throw Self.isDamaged }
        let channel = Channel(minimum: 0, maximum: stops, baseOffset: 0, alternateOffset: 0, isLinear: true)
        try self.init([channel, channel, channel], baseHeadroom: 0, alternateHeadroom: stops)
    }

    /// Creates numbers within their ranges. The headrooms are the binary logarithms of the luminance of the brightest
    /// highlight, of which 1 is white.
    private init(
        _ channels: [Channel], baseHeadroom: Double, alternateHeadroom: Double
    ) throws(ImageDecodingError) {
        guard alternateHeadroom >= baseHeadroom else { throw Self.isHDR }
        guard channels.allSatisfy(\.isValid), baseHeadroom >= 0, alternateHeadroom <= 16 else { throw Self.isDamaged }
        self.channels = channels
    }

    fileprivate static var isDamaged: ImageDecodingError {
        ImageDecodingError(.corrupt, "the numbers of the gain map are missing or out of range")
    }

    private static var isHDR: ImageDecodingError {
        ImageDecodingError(.unsupportedVariant, "the gain map is that of an image in HDR")
    }
}

/// The properties of one namespace in an XMP packet.
private struct GainMapProperties {
    private let properties: XMPProperties
    private let namespace: String

    /// Returns nil when the packet is damaged.
    init?(_ packet: Data, namespace: String) {
        guard let properties = XMPProperties(packet) else { return nil }
        self.properties = properties
        self.namespace = namespace
    }

    /// Returns the texts of a property, one, or one for each of red, green and blue. Nil if there is no such property.
    func texts(_ name: String) -> [String]? { properties.texts(XMPName(namespace: namespace, local: name)) }

    /// Returns the numbers of red, green and blue. Throws unless the property has one or three numbers, or is missing
    /// and has a default.
    func numbers(_ name: String, default value: Double? = nil) throws(ImageDecodingError) -> [Double] {
        let found: [Double?]
        if let texts = texts(name) {
            found = texts.map { text in Double(text.filter { !$0.isWhitespace }) }
        } else {
            found = [value]
        }
        let numbers = found.compactMap { $0 }
        guard numbers.count == found.count, numbers.count == 1 || numbers.count == 3, numbers.allSatisfy(\.isFinite)
        else { throw GainMapMetadata.isDamaged }
        return numbers.count == 3 ? numbers : [numbers[0], numbers[0], numbers[0]]
    }
}

/// The maker notes of Apple's cameras: a TIFF directory whose offsets begin at the notes.
private enum AppleMakerNotes {
    /// Returns the binary logarithm of the gain of the highest sample of the map, or nil when the EXIF data does not
    /// have the two notes that determine it.
    static func stops(in exif: Data) -> Double? {
        exif.withUnsafeBytes { memory -> Double? in
            let tiff = memory.bytes
            guard let bigEndian = TIFF.isBigEndian(tiff),
                let image = TIFF.number(in: tiff, at: 4, bytes: 4, bigEndian: bigEndian),
                let photo = TIFF.directory(0x8769, of: image, in: tiff, bigEndian: bigEndian),
                let entry = TIFF.entry(0x927C, of: photo, in: tiff, bigEndian: bigEndian), entry.type == 7,
                tiff.contains(Array("Apple iOS\0".utf8), at: entry.values)
            else { return nil }
            let notes = tiff.extracting(entry.values..<entry.values + entry.count)
            // The name, a version of two bytes, and the order of bytes precede the directory.
            let isBigEndian = notes.contains(Array("MM".utf8), at: 12)
            func number(_ tag: Int) -> Double? { TIFF.rational(tag, of: 14, in: notes, bigEndian: isBigEndian) }
            guard let first = number(33), let second = number(48) else { return nil }
            let stops =
                switch (first < 1, second <= 0.01) {
                case (true, true): 1.8 - 20 * second
                case (true, false): 1.601 - 0.101 * second
                case (false, true): 3 - 70 * second
                case (false, false): 2.303 - 0.303 * second
                }
            return max(0, stops)
        }
    }
}

/// A reader of big-endian numbers.
private struct GainMapReader {
    private let bytes: [UInt8]
    private var offset = 0
    /// The denominator of all fractions; nil if each has its own.
    var denominator: Int?

    init(_ span: RawSpan) { bytes = span.withUnsafeBytes { Array($0) } }

    mutating func number(_ count: Int) throws(ImageDecodingError) -> Int {
        guard count <= bytes.count - offset else { throw GainMapMetadata.isDamaged }
        defer { offset += count }
        return bytes[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
    }

    /// Returns a quotient of 32-bit numbers. Throws when the denominator is zero.
    mutating func fraction(isSigned: Bool = false) throws(ImageDecodingError) -> Double {
        let bits = try number(4)
        let numerator = isSigned ? Int(Int32(truncatingIfNeeded: bits)) : bits
        let divisor = if let denominator { denominator } else { try number(4) }
        guard divisor > 0 else { throw GainMapMetadata.isDamaged }
        return Double(numerator) / Double(divisor)
    }
}
