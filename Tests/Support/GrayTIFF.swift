package import FoundationEssentials

extension Data {
    /// Returns a TIFF without compression whose pages have a width, a height of 2 pixels, and a level of gray each.
    package static func grayTIFF(pages: [(width: Int, level: UInt8)]) -> Data {
        var file = Data([0x49, 0x49, 42, 0])
        func append(_ value: Int, byteCount: Int = 4) {
            for index in 0..<byteCount { file.append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
        }
        append(8)
        for (index, page) in pages.enumerated() {
            // The number of entries, nine entries and the offset of the next page. Pages begin at even offsets.
            let pixels = file.count + 2 + 9 * 12 + 4
            let count = 2 * page.width
            append(9, byteCount: 2)
            for (tag, value) in [
                (256, page.width), (257, 2), (258, 8), (259, 1), (262, 1), (273, pixels), (277, 1), (278, 2),
                (279, count),
            ] {
                append(tag, byteCount: 2)
                append(tag == 273 || tag == 279 ? 4 : 3, byteCount: 2)
                append(1)
                append(value)
            }
            append(index + 1 < pages.count ? pixels + count : 0)
            file.append(Data(repeating: page.level, count: count))
        }
        return file
    }
}
