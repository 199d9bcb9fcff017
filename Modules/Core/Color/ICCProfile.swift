package import FoundationEssentials

/// Functions on ICC profiles, which are untrusted bytes.
package enum ICCProfile {
    /// The tags that ``withoutPrivateTags(_:)`` keeps: colorants, curves and tables, white and black points,
    /// adaptation, chromaticities, code points, gamut, conditions of measurement and viewing, name and copyright.
    private static let keptTags: Set = [
        "A2B0", "A2B1", "A2B2", "B2A0", "B2A1", "B2A2", "B2D0", "B2D1", "B2D2", "B2D3", "D2B0", "D2B1", "D2B2", "D2B3",
        "bTRC", "bXYZ", "bkpt", "chad", "chrm", "cicp", "cprt", "desc", "gTRC", "gXYZ", "gamt", "kTRC", "lumi", "meas",
        "rTRC", "rXYZ", "tech", "view", "vued", "wtpt",
    ]
    /// The maximum number of characters of ``name(of:)``.
    private static let maximumNameLength = 200

    /// Whether the header of a profile declares the gray color space, or RGB when `gray` is false.
    ///
    /// Source: ICC.1:2022, section 7.2.6.
    package static func describes(gray: Bool, _ profile: Data) -> Bool {
        describes(gray ? "GRAY" : "RGB ", profile)
    }

    /// Returns the profile in a file if it can describe decoded samples. Otherwise, the samples count as sRGB.
    ///
    /// A gray profile does not describe the samples of a file with colors, and its curve would distort the colors. An
    /// RGB profile also describes gray.
    ///
    /// - Parameters:
    ///   - profile: The profile in the file; nil for none.
    ///   - isGray: Whether the file stores gray samples.
    package static func ofSamples(_ profile: Data?, isGray: Bool) -> Data? {
        guard !isGray, let gray = profile, describes(gray: true, gray) else { return profile }
        return nil
    }

    /// Whether the header of a profile declares the CMYK color space.
    package static func describesInks(_ profile: Data) -> Bool { describes("CMYK", profile) }

    /// Whether a profile can be used for a file of a color model. Its header and its table of tags must be valid, its
    /// color space that of the file, and the tags of the conversion present. The tags' contents are not read.
    ///
    /// Source: ICC.1:2022, sections 8.2 to 8.4.
    package static func fits(_ profile: Data, _ model: ColorModel) -> Bool {
        guard let table = ICCTagTable(profile) else { return false }
        let names = Set(table.tags.map(\.name))
        let hasTable = !names.isDisjoint(with: ["A2B0", "A2B1", "A2B2", "D2B0", "D2B1", "D2B2"])
        let hasMatrix = names.isSuperset(of: ["rXYZ", "gXYZ", "bXYZ", "rTRC", "gTRC", "bTRC"])
        let isRGB = describes(gray: false, profile) && (hasTable || hasMatrix)
        switch model {
        case .cmyk, .ycck: return describesInks(profile) && hasTable
        // An RGB profile also describes gray.
        case .gray, .grayAlpha: return isRGB || describes(gray: true, profile) && (hasTable || names.contains("kTRC"))
        default: return isRGB
        }
    }

    private static func describes(_ space: String, _ profile: Data) -> Bool {
        profile.count >= 128 && profile.dropFirst(16).prefix(4).elementsEqual(space.utf8)
    }

    /// Returns a profile without the tags that can identify a device or a person: model and serial number of a display,
    /// its calibration, metadata and private tags. The colors, the name and the copyright stay.
    ///
    /// Only the tags of a fixed list are kept, because an unknown tag may hold anything, and so may bytes that belong
    /// to no tag. When something is removed, the header loses its date and its signatures of manufacturer, model and
    /// creator. A profile of only kept tags is returned unchanged, because it usually belongs to a standard and not to
    /// a device. The result is nil when the header or the tag table is damaged. O(bytes).
    package static func withoutPrivateTags(_ profile: Data) -> Data? {
        guard let table = ICCTagTable(profile) else { return nil }
        let kept = table.tags.filter { keptTags.contains($0.name) }
        // One element may have several tags.
        var elements: [(range: Range<Int>, names: [String])] = []
        for tag in kept {
            if let index = elements.firstIndex(where: { $0.range == tag.range }) {
                elements[index].names.append(tag.name)
            } else {
                elements.append((tag.range, [tag.name]))
            }
        }
        // Each element is padded to a multiple of four bytes.
        let usedCount = elements.reduce(132 + 12 * kept.count) { $0 + ($1.range.count + 3) / 4 * 4 }
        guard kept.count < table.entryCount || usedCount < profile.count else { return profile }
        // Elements of a damaged profile can overlap, and each is written on its own.
        guard elements.reduce(0, { $0 + $1.range.count }) <= profile.count else { return nil }
        var writer = ICCWriter(header: table.header)
        for (range, names) in elements { writer.add(names, Array(table.bytes[range])) }
        return writer.data
    }

    /// Returns the name of a profile in English, or in its first language, with at most 200 characters. Returns nil
    /// when the profile has no name, or is damaged.
    ///
    /// Source: ICC.1:2001-04, section 6.5.17, for version 2; ICC.1:2022, section 10.15, for version 4.
    package static func name(of profile: Data) -> String? {
        guard let table = ICCTagTable(profile), let tag = table.tags.first(where: { $0.name == "desc" }) else {
            return nil
        }
        let element = Array(table.bytes[tag.range])
        let text: String? =
            if element.starts(with: "desc".utf8) {
                asciiText(element)
            } else if element.starts(with: "mluc".utf8) {
                localizedText(element)
            } else {
                nil
            }
        guard let text, !text.isEmpty else { return nil }
        return String(text.prefix(maximumNameLength))
    }

    private static func asciiText(_ element: [UInt8]) -> String? {
        guard let count = ICCTagTable.number(at: 8, in: element), count <= element.count - 12 else { return nil }
        return String(decoding: element[12..<12 + count].prefix { $0 != 0 }, as: UTF8.self)
    }

    private static func localizedText(_ element: [UInt8]) -> String? {
        guard let count = ICCTagTable.number(at: 8, in: element), let size = ICCTagTable.number(at: 12, in: element),
            size >= 12, count > 0, count <= (element.count - 16) / size
        else { return nil }
        let records = (0..<count).map { 16 + size * $0 }
        let record = records.first { element[$0..<$0 + 2].elementsEqual("en".utf8) } ?? records[0]
        guard let length = ICCTagTable.number(at: record + 4, in: element),
            let start = ICCTagTable.number(at: record + 8, in: element), start + length <= element.count
        else { return nil }
        let units = stride(from: start, to: start + length - 1, by: 2).map {
            UInt16(element[$0]) << 8 | UInt16(element[$0 + 1])
        }
        return String(decoding: units.prefix { $0 != 0 }, as: UTF16.self)
    }
}

/// The header and the tag table of an ICC profile. Source: ICC.1:2022, sections 7.2 and 7.3.
struct ICCTagTable {
    /// An entry of the table.
    struct Tag {
        var name: String
        /// The bytes of the element.
        var range: Range<Int>
    }

    /// The maximum number of tags, which is that of Little CMS. Profiles with more tags count as damaged.
    private static let maximumTagCount = 100

    let bytes: [UInt8]
    /// The number of entries, including those that ``tags`` leaves out.
    let entryCount: Int
    /// The tags, each name once. Tags whose elements are empty or not within the profile are left out.
    let tags: [Tag]

    var header: ArraySlice<UInt8> { bytes[..<128] }

    /// Returns nil when the header or the table is damaged or incomplete.
    init?(_ profile: Data) {
        let bytes = [UInt8](profile)
        guard bytes.count >= 132, bytes[36..<40].elementsEqual("acsp".utf8),
            let stated = Self.number(at: 0, in: bytes), let count = Self.number(at: 128, in: bytes),
            count <= Self.maximumTagCount, 132 + 12 * count <= bytes.count
        else { return nil }
        let end = min(stated, bytes.count)
        var names: Set<String> = []
        self.bytes = bytes
        entryCount = count
        tags = (0..<count).compactMap { index in
            let entry = 132 + 12 * index
            guard let start = Self.number(at: entry + 4, in: bytes), let size = Self.number(at: entry + 8, in: bytes),
                size > 0, start + size <= end
            else { return nil }
            let name = String(decoding: bytes[entry..<entry + 4], as: UTF8.self)
            return names.insert(name).inserted ? Tag(name: name, range: start..<start + size) : nil
        }
    }

    /// Returns the 32-bit number at an offset, or nil when it is not within the bytes.
    static func number(at offset: Int, in bytes: [UInt8]) -> Int? {
        guard offset >= 0, offset <= bytes.count - 4 else { return nil }
        return bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    }
}
