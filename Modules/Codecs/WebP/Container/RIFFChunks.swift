import AlcedoCore

/// An iterator over the chunks in a range of the file. Source: RFC 9649 section 2.3.
struct RIFFChunks {
    private var offset: Int
    private var end: Int
    /// The types of chunks that may extend beyond the range, because its declared size can be wrong.
    private let unbounded: Set<String>

    init(in range: Range<Int>, unbounded: Set<String> = []) {
        offset = range.lowerBound
        end = range.upperBound
        self.unbounded = unbounded
    }

    /// Whether the rest of the range is too short for another header.
    var isAtEnd: Bool { end - offset < 8 }

    /// Returns the chunk at the current position, or `nil` at the end and when its header has not arrived.
    ///
    /// - Throws: ``/AlcedoCore/ImageDecodingError``: `corrupt` when the declared size of the chunk exceeds its
    ///   container.
    func current(_ bytes: UnsafeBufferPointer<UInt8>) throws(ImageDecodingError) -> RIFFChunk? {
        guard !isAtEnd, bytes.count >= offset + 8 else { return nil }
        let id = String(decoding: bytes[offset..<offset + 4], as: UTF8.self)
        let start = offset + 8
        let count = bytes.number(at: offset + 4, bytes: 4)
        guard count <= end - start || unbounded.contains(id) else {
            throw ImageDecodingError(.corrupt, "WebP: the chunk \(id.debugDescription) extends beyond its container")
        }
        return RIFFChunk(id: id, start: offset, payload: start..<start + count)
    }

    /// Continues after `chunk`. Chunks are padded to even lengths, but many files omit the padding of the last one.
    mutating func skip(_ chunk: RIFFChunk) {
        end = max(end, chunk.payload.upperBound)
        offset = min(end, chunk.payload.upperBound + chunk.payload.count % 2)
    }

    /// Continues after the range, without an end.
    mutating func open() { end = Int.max / 2 }
}

extension UnsafeBufferPointer<UInt8> {
    /// Returns the little-endian number in at most four bytes starting at `offset`. All of them must lie within the
    /// buffer.
    func number(at offset: Int, bytes: Int) -> Int {
        (0..<bytes).reduce(0) { $0 | Int(self[offset + $1]) << (8 * $1) }
    }
}

/// One chunk of a RIFF file, as positions in the file's bytes.
struct RIFFChunk {
    /// The four characters of the chunk's type, for example `VP8X`.
    var id: String
    /// The offset of the header.
    var start: Int
    /// The byte range of the payload. It may exceed the received bytes, but never the container.
    var payload: Range<Int>

    /// Returns whether `bytes` contains the whole payload.
    func isThere(in bytes: UnsafeBufferPointer<UInt8>) -> Bool { payload.upperBound <= bytes.count }
}
