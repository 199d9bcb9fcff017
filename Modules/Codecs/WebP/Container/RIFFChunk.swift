import AlcedoCore

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
