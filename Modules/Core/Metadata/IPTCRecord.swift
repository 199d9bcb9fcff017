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

    /// Returns the dataset at an offset, or nil if there is no valid one.
    private func dataset(at start: Int) -> (record: UInt8, number: UInt8, range: Range<Int>)? {
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
        return (bytes[start + 1], bytes[start + 2], start..<content + length)
    }
}

/// The image resources of Photoshop, of which one is the IPTC record. Source: Adobe Photoshop File Formats
/// Specification, "Image Resource Blocks".
package enum PhotoshopResources {
    private static let signature = Array("8BIM".utf8)
    private static let iptcNumber: [UInt8] = [0x04, 0x04]

    /// Returns the IPTC record in image resources, or nil if there is none before the first damaged resource. O(bytes).
    package static func iptc(in resources: some Collection<UInt8>) -> Data? {
        let bytes = Array(resources)
        var position = 0
        while position + 12 <= bytes.count, bytes[position...].starts(with: signature) {
            let number = bytes[position + 4..<position + 6]
            // The name and the data are padded to an even number of bytes. The name has its length in front.
            let size = position + 6 + (Int(bytes[position + 6]) + 2) / 2 * 2
            guard size + 4 <= bytes.count else { return nil }
            let count = bytes[size..<size + 4].reduce(0) { $0 << 8 | Int($1) }
            guard count <= bytes.count - size - 4 else { return nil }
            if number.elementsEqual(iptcNumber) {
                return count == 0 ? nil : Data(bytes[size + 4..<size + 4 + count])
            }
            position = size + 4 + count + count % 2
        }
        return nil
    }

    /// Returns image resources that contain only an IPTC record.
    package static func resources(iptc: Data) -> [UInt8] {
        let count = (0..<4).map { UInt8(truncatingIfNeeded: iptc.count >> (24 - 8 * $0)) }
        let padding = [UInt8](repeating: 0, count: iptc.count % 2)
        return signature + iptcNumber + [0, 0] + count + Array(iptc) + padding
    }
}
