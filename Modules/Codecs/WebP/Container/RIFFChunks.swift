import AlcedoCore

/// One chunk of a RIFF file, as positions in the file's bytes.
struct RIFFChunk {
    /// The four characters, for example `VP8X`.
    var id: String
    /// Where the header begins.
    var start: Int
    var payload: Range<Int>

    /// Header and payload.
    var whole: Range<Int> { start..<payload.upperBound }
}

/// Walks the chunks between two positions, and never beyond them. Source: WebP container specification, "RIFF file
/// format".
struct RIFFChunks {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var offset: Int
    private let end: Int

    /// `range` must lie within `bytes`, which must outlive the value.
    init(_ bytes: UnsafeBufferPointer<UInt8>, in range: Range<Int>) {
        self.bytes = bytes
        offset = range.lowerBound
        end = range.upperBound
    }

    /// The next chunk; nil when there is no room for another header.
    ///
    /// - Throws: ``ImageDecodingError`` `corrupt` when the chunk claims more bytes than there are.
    mutating func next() throws(ImageDecodingError) -> RIFFChunk? {
        guard end - offset >= 8 else { return nil }
        let id = String(decoding: bytes[offset..<offset + 4], as: UTF8.self)
        let start = offset + 8
        let count = bytes.number(at: offset + 4, bytes: 4)
        guard count <= end - start else {
            throw ImageDecodingError(.corrupt, "WebP: the chunk \(id.debugDescription) reaches beyond its container")
        }
        let chunk = RIFFChunk(id: id, start: offset, payload: start..<start + count)
        // Chunks have even lengths, but the last one's padding is often left out.
        offset = min(end, start + count + count % 2)
        return chunk
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The number in `bytes` bytes, at most four, from `offset` on, low byte first. All must lie within the buffer.
    func number(at offset: Int, bytes: Int) -> Int {
        (0..<bytes).reduce(0) { $0 | Int(self[offset + $1]) << (8 * $1) }
    }
}
