import AlcedoCore

/// Walks through the chunks of a file. O(chunks); looks at their first eight bytes only.
struct PNGChunkWalk {
    private let bytes: PNGBytes
    private var offset = PNGChunk.signature.count

    init(_ bytes: PNGBytes) { self.bytes = bytes }

    /// The next chunk; nil when there are no eight bytes for one, or after the end of the image.
    mutating func next() -> PNGChunk? {
        guard offset <= bytes.count - PNGChunk.headerByteCount else { return nil }
        let length = bytes.bigEndian(at: offset)
        let name = UInt32(truncatingIfNeeded: bytes.bigEndian(at: offset + 4))
        let chunk = PNGChunk(name: name, range: offset..<offset + length + 12)
        offset = name == PNGChunk.Name.iend ? bytes.count : chunk.range.upperBound
        return chunk
    }
}
