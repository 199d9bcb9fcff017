import AlcedoRuntime
package import FoundationEssentials

/// The IPTC record of a file, which consists of datasets. Source: IPTC-NAA Information Interchange Model, version 4.
struct IPTCRecord {
    private let bytes: [UInt8]

    init(_ record: Data) { bytes = [UInt8](record) }

    /// The names of the creator, the credit and the notice of copyright: By-line, Credit, CopyrightNotice.
    static let rights: Set<UInt8> = [80, 110, 116]
    /// The datasets of the application record that correspond to the tags of EXIF that are kept without a location:
    /// Object Name, Date Created, By-line, By-line Title, Headline, Credit, Source, CopyrightNotice, Caption, Writer.
    static let harmless: Set<UInt8> = [5, 55, 80, 85, 105, 110, 115, 116, 120, 122]

    /// Returns the record with only the datasets of the application record that have these numbers. Nil when it has
    /// none of them. Datasets after a damaged one are omitted. O(bytes).
    func filtered(_ numbers: Set<UInt8>) -> Data? {
        var kept: [UInt8] = []
        var head: [UInt8] = []
        var position = 0
        while let dataset = dataset(at: position) {
            position = dataset.range.upperBound
            // The coded character set, without which texts are not in UTF-8, and the version of the record.
            let isNeeded = dataset.record == 1 && dataset.number == 90 || dataset.record == 2 && dataset.number == 0
            if isNeeded { head += bytes[dataset.range] }
            if dataset.record == 2, numbers.contains(dataset.number) { kept += bytes[dataset.range] }
        }
        return kept.isEmpty ? nil : Data(head + kept)
    }

    /// Returns the texts of datasets of the application record by their numbers, in their order, without empty ones and
    /// those that are too long. At most 64 are read. Datasets after a damaged one are omitted. O(bytes).
    ///
    /// The coded character set tells whether texts are in UTF-8. Source: IPTC-NAA Information Interchange Model,
    /// version 4.2, section 5, dataset 1:90.
    func texts(_ numbers: Set<UInt8>) -> [UInt8: [String]] {
        var contents: [(number: UInt8, content: ArraySlice<UInt8>)] = []
        var isUTF8 = false
        var position = 0
        while contents.count < ImageMetadata.maximumTextCount, let dataset = dataset(at: position) {
            position = dataset.range.upperBound
            let content = bytes[dataset.content..<position]
            if dataset.record == 1, dataset.number == 90 { isUTF8 = content.starts(with: [0x1B, 0x25]) }
            if dataset.record == 2, numbers.contains(dataset.number), content.count <= MetadataText.maximumByteCount {
                contents.append((dataset.number, content))
            }
        }
        return contents.reduce(into: [:]) { texts, item in
            guard let text = MetadataText.decoded(item.content, isUTF8: isUTF8) else { return }
            texts[item.number, default: []].append(text)
        }
    }

    /// Returns the dataset at an offset, or nil if there is no valid one.
    private func dataset(at start: Int) -> (record: UInt8, number: UInt8, content: Int, range: Range<Int>)? {
        guard start + 5 <= bytes.count, bytes[start] == 0x1C else { return nil }
        var length = Int(bytes[start + 3]) << 8 | Int(bytes[start + 4])
        var content = start + 5
        // The length of a long dataset has its own length.
        if length & 0x8000 != 0 {
            let count = length & 0x7FFF
            guard count <= 4, count <= bytes.count - content else { return nil }
            length = bytes[content..<content + count].reduce(0) { $0 << 8 | Int($1) }
            content += count
        }
        guard length <= bytes.count - content else { return nil }
        return (bytes[start + 1], bytes[start + 2], content, start..<content + length)
    }
}

extension ImageMetadata {
    /// Whether IPTC was changed after a program had written the same texts to IPTC and XMP.
    var isIPTCNewer: Bool {
        guard let iptc, let iptcDigest else { return false }
        return !iptcDigest.elementsEqual(MD5.digest(of: [UInt8](iptc)))
    }
}

/// The image resources of Photoshop, of which one is the IPTC record and another its digest. Source: Adobe Photoshop
/// File Formats Specification, "Image Resource Blocks".
package enum PhotoshopResources {
    private static let signature = Array("8BIM".utf8)
    private static let iptcNumber = 0x0404
    private static let digestNumber = 0x0425

    /// Returns the IPTC record in image resources and its digest, each of which is nil if there is none before the
    /// first damaged resource. O(bytes).
    package static func iptc(in resources: some Collection<UInt8>) -> (record: Data?, digest: Data?) {
        let bytes = Array(resources)
        var (record, digest): (Data?, Data?) = (nil, nil)
        var position = 0
        while position + 12 <= bytes.count, bytes[position...].starts(with: signature) {
            let number = Int(bytes[position + 4]) << 8 | Int(bytes[position + 5])
            // The name and the data are padded to an even number of bytes. The name has its length in front.
            let size = position + 6 + (Int(bytes[position + 6]) + 2) / 2 * 2
            guard size + 4 <= bytes.count else { break }
            let count = bytes[size..<size + 4].reduce(0) { $0 << 8 | Int($1) }
            guard count <= bytes.count - size - 4 else { break }
            let content = bytes[size + 4..<size + 4 + count]
            switch number {
            case iptcNumber where record == nil && count > 0: record = Data(content)
            case digestNumber where digest == nil && count == 16: digest = Data(content)
            default: break
            }
            position = size + 4 + count + count % 2
        }
        return (record, digest)
    }

    /// Returns image resources that contain only the IPTC record of metadata, and its digest if there is one. Empty
    /// when there is no record.
    package static func resources(of metadata: ImageMetadata) -> [UInt8] {
        guard let iptc = metadata.iptc else { return [] }
        return resource(iptcNumber, iptc) + (metadata.iptcDigest.map { resource(digestNumber, $0) } ?? [])
    }

    private static func resource(_ number: Int, _ content: Data) -> [UInt8] {
        func bytes(_ value: Int, _ count: Int) -> [UInt8] { TIFF.bytes(value, count: count, bigEndian: true) }
        let padding = [UInt8](repeating: 0, count: content.count % 2)
        return signature + bytes(number, 2) + [0, 0] + bytes(content.count, 4) + Array(content) + padding
    }
}
