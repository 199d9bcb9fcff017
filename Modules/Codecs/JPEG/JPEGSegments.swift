import AlcedoCore
import FoundationEssentials

/// The metadata that a file stores in several segments, of at most 65,533 bytes each. libjpeg's marker reader finds
/// only the first ones.
struct JPEGSegments {
    private let bytes: UnsafeBufferPointer<UInt8>
    /// The contents of the segments with image resources of Photoshop.
    private var resources: [Range<Int>] = []
    /// The contents of the segments with a part of extended XMP: after the identifier, the length and the offset.
    private var parts: [(identifier: Range<Int>, byteCount: Int, offset: Int, content: Range<Int>)] = []

    /// The first XMP packet, and the numbers of a gain map.
    private(set) var xmp: UnsafeBufferPointer<UInt8>?
    private(set) var gainMap: UnsafeBufferPointer<UInt8>?
    /// The ranges of the images that follow this one, which may be outside of the file.
    private(set) var furtherImages: [Range<Int>] = []

    private static let xmpName = Array("http://ns.adobe.com/xap/1.0/\0".utf8)
    private static let gainMapName = Array("urn:iso:std:iso:ts:21496:-1\0".utf8)
    private static let indexName = Array("MPF\0".utf8)
    private static let resourcesName = Array("Photoshop 3.0\0".utf8)
    private static let extensionName = Array("http://ns.adobe.com/xmp/extension/\0".utf8)
    private static let identifierByteCount = 32

    /// Finds the segments before the first scan. O(segments, and bytes that belong to none).
    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
        var offset = 2
        while offset + 4 <= bytes.count {
            let marker = bytes[offset + 1]
            // Other bytes, fill bytes and markers without a segment are skipped.
            guard bytes[offset] == 0xFF, marker != 0, marker != 0xFF else {
                offset += 1
                continue
            }
            guard marker != 0x01, !(0xD0...0xD8).contains(marker) else {
                offset += 2
                continue
            }
            let end = offset + 2 + number(at: offset + 2, 2)
            // The start of a scan, and the end of the image.
            guard marker != 0xDA, marker != 0xD9, end >= offset + 4, end <= bytes.count else { return }
            let content = offset + 4..<end
            if marker == 0xED, let rest = range(content, after: Self.resourcesName) { resources.append(rest) }
            if marker == 0xE1, let rest = range(content, after: Self.extensionName) { addPart(rest) }
            if marker == 0xE1, xmp == nil, let rest = range(content, after: Self.xmpName) { xmp = part(rest) }
            if marker == 0xE2 { addImages(content) }
            offset = end
        }
    }

    private mutating func addImages(_ content: Range<Int>) {
        if gainMap == nil, let rest = range(content, after: Self.gainMapName) { gainMap = part(rest) }
        guard furtherImages.isEmpty, let index = range(content, after: Self.indexName) else { return }
        furtherImages = MultiPictureFormat.images(
            in: RawSpan(_unsafeElements: part(index)), startingAt: index.lowerBound)
    }

    private func part(_ range: Range<Int>) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: bytes[range])
    }

    private mutating func addPart(_ content: Range<Int>) {
        let numbers = content.lowerBound + Self.identifierByteCount
        guard numbers + 8 <= content.upperBound else { return }
        parts.append(
            (
                content.lowerBound..<numbers, number(at: numbers, 4), number(at: numbers + 4, 4),
                numbers + 8..<content.upperBound
            ))
    }

    /// Returns the image resources, which can continue from one segment to the next. Nil when there are none, or more
    /// bytes than the maximum.
    func imageResources(maximumByteCount: Int) -> Data? { joined(resources, maximumByteCount: maximumByteCount) }

    /// Returns the rest of an XMP packet with an identifier, or nil when a part is missing or there are more bytes than
    /// the maximum. Source: XMP specification part 3, section 1.1.3.1.
    func extendedXMP(_ identifier: String, maximumByteCount: Int) -> Data? {
        let own = parts.filter { bytes[$0.identifier].elementsEqual(identifier.utf8) }.sorted { $0.offset < $1.offset }
        var end = 0
        var contents: [Range<Int>] = []
        for part in own where part.offset >= end {
            guard part.offset == end, part.byteCount == own[0].byteCount else { return nil }
            contents.append(part.content)
            end += part.content.count
        }
        guard end > 0, end == own[0].byteCount else { return nil }
        return joined(contents, maximumByteCount: maximumByteCount)
    }

    private func joined(_ ranges: [Range<Int>], maximumByteCount: Int) -> Data? {
        let count = ranges.reduce(0) { $0 + $1.count }
        guard count > 0, count <= maximumByteCount else { return nil }
        return ranges.reduce(into: Data(capacity: count)) { $0.append(contentsOf: bytes[$1]) }
    }

    private func range(_ content: Range<Int>, after name: [UInt8]) -> Range<Int>? {
        let start = content.lowerBound + name.count
        guard start <= content.upperBound, bytes[content.lowerBound..<start].elementsEqual(name) else { return nil }
        return start..<content.upperBound
    }

    private func number(at offset: Int, _ count: Int) -> Int {
        bytes[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
    }
}
