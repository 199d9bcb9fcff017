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

        /// Returns the gain for a sample of the map, from 0 to 1.
        package func gain(_ sample: Double) -> Double {
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
        guard let document = XMPDocument([UInt8](xmp)) else { return nil }
        var properties = XMPProperties()
        for description in XMPFilter.descriptions(of: document) { properties.add(description) }
        guard let version = properties.texts["Version"] else { return nil }
        guard version.count == 1, version[0].hasPrefix("1.") else {
            throw ImageDecodingError(.unsupportedVariant, "the gain map has another version")
        }
        guard properties.texts["BaseRenditionIsHDR"]?.first?.lowercased() != "true" else { throw Self.isHDR }
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
    /// - Throws: ``ImageDecodingError``, as the initializer for XMP does.
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

/// The properties of a gain map in XMP.
private struct XMPProperties {
    /// The texts of each property: one, or one for each of red, green and blue.
    private(set) var texts: [String: [String]] = [:]

    private static let namespace = "http://ns.adobe.com/hdr-gain-map/1.0/"

    mutating func add(_ description: XMPElement) {
        for (name, value) in description.attributes where name.namespace == Self.namespace {
            texts[name.local] = [value]
        }
        for property in description.children where property.name.namespace == Self.namespace {
            let items = property.children.first?.children.filter { $0.name == .rdf("li") }
            texts[property.name.local] = items?.map(Self.text(of:)) ?? [Self.text(of: property)]
        }
    }

    private static func text(of element: XMPElement) -> String {
        element.content.reduce(into: "") { if case .text(let text) = $1 { $0 += text } }
    }

    /// Returns the numbers of red, green and blue. Throws unless the property has one or three numbers, or is missing
    /// and has a default.
    func numbers(_ name: String, default value: Double? = nil) throws(ImageDecodingError) -> [Double] {
        let found: [Double?]
        if let texts = texts[name] {
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
