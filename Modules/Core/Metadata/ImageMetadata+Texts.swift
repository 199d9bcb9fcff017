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

    /// The maximum number of bytes of EXIF in JPEG.
    private static let maximumEXIFByteCount = 65_527

    /// Moves the texts that EXIF has tags for into EXIF, and removes the others. Texts with which EXIF would no longer
    /// fit in JPEG are removed as well.
    mutating func moveTextsToEXIF() {
        let base = exif.map { [UInt8]($0) } ?? TIFF.empty
        var tags: Set<Int> = []
        // Keywords that differ only in case have one tag, for the first of them.
        let entries = texts.sorted { $0.key < $1.key }.compactMap { keyword, text -> TIFF.NewEntry? in
            guard let tag = Self.tags[keyword.lowercased()], tags.insert(tag).inserted else { return nil }
            return .text(tag, Array(text.utf8) + [0])
        }
        texts = [:]
        guard let bigEndian = TIFF.isBigEndian(base.span.bytes),
            let image = TIFF.number(in: base.span.bytes, at: 4, bytes: 4, bigEndian: bigEndian)
        else { return }
        let new = entries.sorted { $0.tag < $1.tag }.filter {
            TIFF.entry($0.tag, of: image, in: base.span.bytes, bigEndian: bigEndian) == nil
        }
        guard !new.isEmpty, let bytes = TIFF.inserting(new, into: base),
            bytes.count <= max(Self.maximumEXIFByteCount, base.count)
        else { return }
        exif = Data(bytes)
    }

    /// Returns whether written metadata has a text, as a text or in EXIF.
    package func holds(_ text: String, of keyword: String) -> Bool {
        if texts[keyword] == text { return true }
        guard let tag = Self.tags[keyword.lowercased()], let exif else { return false }
        let bytes = [UInt8](exif)
        guard let bigEndian = TIFF.isBigEndian(bytes.span.bytes),
            let image = TIFF.number(in: bytes.span.bytes, at: 4, bytes: 4, bigEndian: bigEndian),
            let entry = TIFF.entry(tag, of: image, in: bytes.span.bytes, bigEndian: bigEndian), entry.type == 2
        else { return false }
        return bytes[entry.values..<entry.values + entry.count].elementsEqual(Array(text.utf8) + [0])
    }
}
