/// The images that follow the first one in a JPEG file. Source: CIPA DC-007 (Multi-Picture Format), section 5.2.
package enum MultiPictureFormat {
    /// The maximum number of images that are read.
    private static let maximumImageCount = 16

    /// Returns the images in the order of the file, without the first one. Ranges may be outside of the file.
    ///
    /// - Parameters:
    ///   - index: The content of the segment, after its name.
    ///   - start: The offset of `index` in the file.
    package static func images(in index: RawSpan, startingAt start: Int) -> [Range<Int>] {
        guard let bigEndian = TIFF.isBigEndian(index),
            let directory = TIFF.number(in: index, at: 4, bytes: 4, bigEndian: bigEndian),
            let entries = TIFF.entry(0xB002, of: directory, in: index, bigEndian: bigEndian), entries.type == 7
        else { return [] }
        return (1..<max(1, min(entries.count / 16, maximumImageCount))).compactMap { image in
            let entry = entries.values + 16 * image
            guard let count = TIFF.number(in: index, at: entry + 4, bytes: 4, bigEndian: bigEndian),
                let offset = TIFF.number(in: index, at: entry + 8, bytes: 4, bigEndian: bigEndian)
            else { return nil }
            // Both have 32 bits.
            return start + offset..<start + offset + count
        }
    }
}
