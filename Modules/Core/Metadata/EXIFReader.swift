/// A reader of the values in EXIF data. It reads only bytes inside the data. It visits three directories and follows no
/// link from one directory to the next, so it ends for directories in a circle, too.
///
/// Source: CIPA DC-008 (Exif 2.32), sections 4.6.2 to 4.6.6; TIFF 6.0, section 2.
struct EXIFReader: ~Escapable {
    /// A directory with tags.
    enum Directory {
        /// The first directory, which describes the image.
        case image
        /// The directory of the tags that only EXIF defines.
        case photo
        /// The directory of the location.
        case gps
    }

    private let tiff: RawSpan
    private let bigEndian: Bool
    private let image: Int
    private let photo: Int?
    private let gps: Int?

    /// Creates a reader. Returns nil when the data has no TIFF header.
    @_lifetime(copy tiff)
    init?(_ tiff: RawSpan) {
        guard let bigEndian = TIFF.isBigEndian(tiff),
            let image = TIFF.number(in: tiff, at: 4, bytes: 4, bigEndian: bigEndian)
        else { return nil }
        self.tiff = tiff
        self.bigEndian = bigEndian
        self.image = image
        photo = TIFF.directory(0x8769, of: image, in: tiff, bigEndian: bigEndian)
        gps = TIFF.directory(0x8825, of: image, in: tiff, bigEndian: bigEndian)
    }

    /// Whether the directory of the location has a tag other than the version.
    var hasLocation: Bool {
        guard let gps, let count = TIFF.number(in: tiff, at: gps, bytes: 2, bigEndian: bigEndian) else { return false }
        for index in 0..<count {
            guard let tag = TIFF.number(in: tiff, at: gps + 2 + 12 * index, bytes: 2, bigEndian: bigEndian) else {
                return false
            }
            if tag != 0 { return true }
        }
        return false
    }

    /// Returns the bytes of a text, or nil if there are none or too many. Writers do not agree on the type, so bytes of
    /// any type are read.
    func bytes(_ tag: Int, in directory: Directory) -> ArraySlice<UInt8>? {
        guard let entry = entry(tag, in: directory), TIFF.byteCount(ofType: entry.type) == 1,
            entry.count <= MetadataText.maximumByteCount
        else { return nil }
        let range = entry.values..<entry.values + entry.count
        return range.map { tiff.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }[...]
    }

    /// Returns a text up to its first zero, or nil if it is empty.
    func text(_ tag: Int, in directory: Directory) -> String? {
        bytes(tag, in: directory).flatMap { MetadataText.decoded($0) }
    }

    /// Returns the first value of a tag if it is an integer.
    func integer(_ tag: Int, in directory: Directory) -> Int? {
        offset(of: directory).flatMap { TIFF.integer(tag, of: $0, in: tiff, bigEndian: bigEndian) }
    }

    /// Returns one of the values of a tag if it is a finite number of any type.
    func number(_ tag: Int, in directory: Directory, at index: Int = 0) -> Double? {
        guard let entry = entry(tag, in: directory), index < entry.count,
            let number = TIFF.rational(index, of: entry, in: tiff, bigEndian: bigEndian), number.isFinite
        else { return nil }
        return number
    }

    private func entry(_ tag: Int, in directory: Directory) -> TIFF.Entry? {
        offset(of: directory).flatMap { TIFF.entry(tag, of: $0, in: tiff, bigEndian: bigEndian) }
    }

    private func offset(of directory: Directory) -> Int? {
        switch directory {
        case .image: image
        case .photo: photo
        case .gps: gps
        }
    }
}
