import AlcedoCore
private import CPNGShim

/// The name and the position of one chunk of a file. Source: W3C PNG specification, third edition, section 5.3.
struct PNGChunk {
    /// Chunk names as numbers, so that comparing the names of a million chunks is fast.
    enum Name {
        static let actl: UInt32 = 0x6163_544C
        static let chrm: UInt32 = 0x6348_524D
        static let cicp: UInt32 = 0x6349_4350
        static let exif: UInt32 = 0x6558_4966
        static let fctl: UInt32 = 0x6663_544C
        static let fdat: UInt32 = 0x6664_4154
        static let gama: UInt32 = 0x6741_4D41
        static let iccp: UInt32 = 0x6943_4350
        static let idat: UInt32 = 0x4944_4154
        static let iend: UInt32 = 0x4945_4E44
        static let ihdr: UInt32 = 0x4948_4452
        static let itxt: UInt32 = 0x6954_5874
        static let phys: UInt32 = 0x7048_5973
        static let plte: UInt32 = 0x504C_5445
        static let srgb: UInt32 = 0x7352_4742
        static let text: UInt32 = 0x7445_5874
        static let trns: UInt32 = 0x7452_4E53
        static let ztxt: UInt32 = 0x7A54_5874
    }

    /// The maximum length that a chunk may declare.
    static let maximumByteCount = 0x7FFF_FFFF
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    /// The number of bytes of the length and the name.
    static let headerByteCount = 8

    /// Compares at most the first eight bytes with the beginning of the PNG signature. Throws `corrupt` when they
    /// differ.
    static func checkSignature(_ bytes: some Collection<UInt8>) throws(ImageDecodingError) {
        guard bytes.prefix(signature.count).elementsEqual(signature.prefix(bytes.count)) else {
            throw ImageDecodingError(.corrupt, "PNG: the signature is missing")
        }
    }

    let name: UInt32
    /// The declared range of the chunk, including length and checksum. It may extend past the end of the file.
    let range: Range<Int>

    var body: Range<Int> { range.lowerBound + Self.headerByteCount..<range.upperBound - 4 }

    func isWhole(in bytes: PNGBytes) -> Bool { range.upperBound <= bytes.count }

    /// Whether the checksum matches the name and the body. The chunk must be complete.
    func isIntact(in bytes: PNGBytes) -> Bool {
        let checked = bytes.part(range.lowerBound + 4..<body.upperBound)
        return Int(alcedo_png_crc(checked.baseAddress, checked.count)) == bytes.bigEndian(at: body.upperBound)
    }

    /// Whether decoders may ignore the chunk: bit 5 of the first letter. Section 5.4.
    var isAncillary: Bool { name & 0x2000_0000 != 0 }

    var isOfAnimation: Bool { Self.isOfAnimation(name) }

    static func isOfAnimation(_ name: UInt32) -> Bool { name == Name.actl || name == Name.fctl || name == Name.fdat }
}

/// An iterator over the chunks of a file. O(chunks); reads only the first eight bytes of each chunk.
struct PNGChunkWalk {
    private let bytes: PNGBytes
    private var offset = PNGChunk.signature.count

    init(_ bytes: PNGBytes) { self.bytes = bytes }

    /// Returns the next chunk, or nil when fewer than eight bytes are left, and after the `IEND` chunk.
    mutating func next() -> PNGChunk? {
        guard offset <= bytes.count - PNGChunk.headerByteCount else { return nil }
        let length = bytes.bigEndian(at: offset)
        let name = UInt32(truncatingIfNeeded: bytes.bigEndian(at: offset + 4))
        let chunk = PNGChunk(name: name, range: offset..<offset + length + 12)
        offset = name == PNGChunk.Name.iend ? bytes.count : chunk.range.upperBound
        return chunk
    }
}

/// Bytes of a file, valid only inside the closure that received them.
typealias PNGBytes = UnsafeBufferPointer<UInt8>

extension PNGBytes {
    /// Returns a big-endian number. The caller must check that the bytes exist.
    func bigEndian(at offset: Int, bytes: Int = 4) -> Int {
        (0..<bytes).reduce(0) { $0 << 8 | Int(self[offset + $1]) }
    }

    /// Returns the bytes in a range, clamped to the existing bytes.
    func part(_ range: Range<Int>) -> PNGBytes {
        PNGBytes(rebasing: self[range.clamped(to: 0..<count)])
    }
}
