/// The boxes of an image file itself, found as its bytes arrive. Source: ISO/IEC 14496-12, section 4.
///
///     while let box = boxes.next(bytes, hasHeader: hasHeader) { read(box) }
///
/// It tells truncated files from complete ones.
package struct FileBoxes {
    /// The offset of the next box.
    package private(set) var offset = 0
    /// Whether the file does not begin with a list of brands.
    package private(set) var isForeign = false
    /// Whether the last box ends after the received bytes, or a box that the image needs is missing.
    package private(set) var isTruncated = true
    private var hasMediaData = false

    private static let knownTypes: Set<BoxType> = [
        "ftyp", "meta", "moov", "mdat", "free", "skip", "uuid", "idat", "moof", "mfra", "wide",
    ]

    package init() {}

    /// Returns the next box whose bytes have all arrived, or nil when there is none.
    ///
    /// - Parameters:
    ///   - bytes: The received bytes, from the start of the file.
    ///   - hasHeader: Whether the boxes with the properties of the image have arrived.
    package mutating func next(_ bytes: UnsafeBufferPointer<UInt8>, hasHeader: Bool) -> Box? {
        guard offset < bytes.count, !isForeign else {
            isTruncated = !isForeign && !hasHeader
            return nil
        }
        guard let box = Box(bytes, at: offset) else {
            // Fewer bytes than a header may be the beginning of a further box, or other bytes after the image.
            isTruncated = bytes.count - offset < 16 && !(hasHeader && hasMediaData)
            return nil
        }
        guard offset > 0 || box.type == "ftyp" else {
            (isForeign, isTruncated) = (true, false)
            return nil
        }
        guard box.payload.upperBound <= bytes.count else {
            // Other bytes after the image are not a box, and are ignored.
            isTruncated = Self.knownTypes.contains(box.type) || !hasMediaData
            return nil
        }
        if box.type == "mdat" { hasMediaData = true }
        offset = box.payload.upperBound
        return box
    }
}
