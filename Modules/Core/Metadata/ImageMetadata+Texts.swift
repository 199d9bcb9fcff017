import FoundationEssentials

/// The keywords of texts in PNG. Source: W3C PNG specification, third edition, section 11.3.3.
extension ImageMetadata {
    /// The maximum number of texts that are read from a file.
    package static let maximumTextCount = 64

    /// The keywords of the creator and of the statements of rights, in lower case.
    private static let rights: Set = ["author", "copyright", "disclaimer"]
    /// The keywords that correspond to the tags of EXIF that are kept without a location. A creation time can have a
    /// time zone.
    private static let harmless: Set = ["description", "software", "source", "title", "warning"]
    /// The tags of EXIF for the creator and the copyright.
    private static let tags = ["author": 0x013B, "copyright": 0x8298]

    /// Returns the selected texts. Comments are never selected.
    func selectedTexts(_ selection: MetadataSelection) -> [String: String] {
        texts.filter { keyword, _ in
            let keyword = keyword.lowercased()
            return switch selection {
            case .copyright: Self.rights.contains(keyword)
            case .withoutLocation: Self.rights.contains(keyword) || Self.harmless.contains(keyword)
            case .all: keyword != "comment"
            }
        }
    }

    /// The maximum number of bytes of EXIF in JPEG: the length of a marker segment without the 6 bytes that identify
    /// EXIF. Source: CIPA DC-008 (Exif 2.32), section 4.7.2.
    package static let maximumEXIFByteCount = 65_527

    /// Moves the texts that EXIF has tags for into EXIF, and removes the others. A text with which EXIF would no longer
    /// fit in JPEG is removed as well.
    mutating func moveTextsToEXIF() {
        var base = exif.map { [UInt8]($0) } ?? TIFF.empty
        var tags: Set<Int> = []
        // Keywords that differ only in case have one tag, for the first of them.
        let entries = texts.sorted { $0.key < $1.key }.compactMap { keyword, text -> TIFF.NewEntry? in
            guard let tag = Self.tags[keyword.lowercased()], tags.insert(tag).inserted else { return nil }
            return .text(tag, Array(text.utf8) + [0])
        }
        texts = [:]
        for entry in entries where Self.entry(entry.tag, in: base) == nil {
            guard let bytes = TIFF.inserting([entry], into: base), bytes.count <= Self.maximumEXIFByteCount else {
                continue
            }
            base = bytes
            exif = Data(bytes)
        }
    }

    /// Returns an entry of the first directory of EXIF, or nil when there is none.
    private static func entry(_ tag: Int, in exif: [UInt8]) -> TIFF.Entry? {
        guard let bigEndian = TIFF.isBigEndian(exif.span.bytes),
            let image = TIFF.number(in: exif.span.bytes, at: 4, bytes: 4, bigEndian: bigEndian)
        else { return nil }
        return TIFF.entry(tag, of: image, in: exif.span.bytes, bigEndian: bigEndian)
    }

    /// Returns whether written metadata has a text, as a text or in EXIF.
    package func holds(_ text: String, of keyword: String) -> Bool {
        if texts[keyword] == text { return true }
        guard let tag = Self.tags[keyword.lowercased()], let exif else { return false }
        let bytes = [UInt8](exif)
        guard let entry = Self.entry(tag, in: bytes), [2, 129].contains(entry.type) else { return false }
        return bytes[entry.values..<entry.values + entry.count].elementsEqual(Array(text.utf8) + [0])
    }
}
