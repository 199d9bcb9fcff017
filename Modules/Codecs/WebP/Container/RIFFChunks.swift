import AlcedoCore

/// Walks the chunks between two positions, and never beyond them. Source: RFC 9649 section 2.3.
struct RIFFChunks {
    private var offset: Int
    private let end: Int

    init(in range: Range<Int>) {
        offset = range.lowerBound
        end = range.upperBound
    }

    /// Whether there is no room for another header.
    var isAtEnd: Bool { end - offset < 8 }

    /// The chunk that begins here; nil at the end, and when its header has not come yet.
    ///
    /// - Throws: ``ImageDecodingError`` `corrupt` when the chunk claims more bytes than its container has.
    func current(_ bytes: UnsafeBufferPointer<UInt8>) throws(ImageDecodingError) -> RIFFChunk? {
        guard !isAtEnd, bytes.count >= offset + 8 else { return nil }
        let id = String(decoding: bytes[offset..<offset + 4], as: UTF8.self)
        let start = offset + 8
        let count = bytes.number(at: offset + 4, bytes: 4)
        guard count <= end - start else {
            throw ImageDecodingError(.corrupt, "WebP: the chunk \(id.debugDescription) reaches beyond its container")
        }
        return RIFFChunk(id: id, start: offset, payload: start..<start + count)
    }

    /// Goes on behind `chunk`. Chunks have even lengths, but the last one's padding is often left out.
    mutating func skip(_ chunk: RIFFChunk) {
        offset = min(end, chunk.payload.upperBound + chunk.payload.count % 2)
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The number in `bytes` bytes, at most four, from `offset` on, low byte first. All must lie within the buffer.
    func number(at offset: Int, bytes: Int) -> Int {
        (0..<bytes).reduce(0) { $0 | Int(self[offset + $1]) << (8 * $1) }
    }
}

/// One chunk of a RIFF file, as positions in the file's bytes.
struct RIFFChunk {
    /// The four characters, for example `VP8X`.
    var id: String
    /// Where the header begins.
    var start: Int
    /// May reach beyond the bytes that have come so far, never beyond the container.
    var payload: Range<Int>

    /// Whether all of the chunk is among the bytes.
    func isThere(in bytes: UnsafeBufferPointer<UInt8>) -> Bool { payload.upperBound <= bytes.count }
}
