import AlcedoCore
import FoundationEssentials

/// Leaves libpng the chunks it needs, of those from the first pixels on, and keeps metadata.
///
/// libpng's progressive reader would gather every chunk and copy it again whenever bytes come, which for a large one in
/// small pieces takes for ever. In place of each it gets a short one, because where chunks stand matters to it.
struct PNGChunkFilter {
    private enum Treatment {
        case pass, keep, drop
    }

    /// Chunks after the pixels that may be EXIF or XMP, whole.
    private(set) var late = Data()
    private var head = Data()
    private var treatment = Treatment.drop
    /// Bytes of the chunk, checksum included, that are still to come.
    private var left = 0
    private var isPastEnd = false

    /// Takes bytes from the beginning of `rest`. Returns what libpng is to get, nil when nothing is left.
    mutating func next(_ rest: inout Data, limits: DecodingLimits) -> Data? {
        while !rest.isEmpty, !isPastEnd || left > 0 {
            if left > 0 {
                let piece = take(left, from: &rest)
                left -= piece.count
                if treatment == .pass { return piece }
                if treatment == .keep { late.append(piece) }
                continue
            }
            head.append(take(PNGChunk.headerByteCount - head.count, from: &rest))
            guard head.count == PNGChunk.headerByteCount else { return nil }
            let header = head
            head = Data()
            return begin(header, limits)
        }
        return nil
    }

    private mutating func begin(_ header: Data, _ limits: DecodingLimits) -> Data {
        let fields = Array(header)
        let (length, name) = fields.withUnsafeBufferPointer { bytes in
            (bytes.bigEndian(at: 0), UInt32(truncatingIfNeeded: bytes.bigEndian(at: 4)))
        }
        left = length + 4
        isPastEnd = name == PNGChunk.Name.iend
        let isAncillary = fields[4] & 0x20 != 0
        let isNamed = fields[4...].allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20) }
        // What is wrong is for libpng to say.
        guard isAncillary, isNamed, length <= PNGChunk.longest else {
            treatment = .pass
            return header
        }
        let kept = [PNGChunk.Name.exif, PNGChunk.Name.itxt, PNGChunk.Name.text, PNGChunk.Name.ztxt]
        let room = limits.maximumMetadataByteCount - late.count
        treatment = kept.contains(name) && length <= min(limits.maximumChunkByteCount, room) ? .keep : .drop
        if treatment == .keep { late.append(header) }
        return Self.placeholder
    }

    private mutating func take(_ count: Int, from rest: inout Data) -> Data {
        let piece = rest.prefix(count)
        rest = rest.dropFirst(count)
        return piece
    }

    private static let placeholder = Data(PNGFrameFile.chunk("tEXt", []))
}
