import AlcedoCore
private import CPNGShim
import FoundationEssentials

/// Leaves libpng the chunks it needs, of those from the first pixels on, and keeps metadata.
///
/// libpng's progressive reader gathers every chunk but pixels, and copies what it has again whenever bytes come. In place
/// of a chunk that libpng does not need it gets a short one, because the place of chunks matters to it. A chunk that a
/// reader must understand, and that is longer than any known one, is replaced by an empty chunk of the same name, whose
/// checksum is right if the checksum of the original is. So the work is linear, and only metadata take memory.
struct PNGChunkFilter {
    private enum Treatment {
        case pass, keep, drop, replace
    }

    /// Bytes of a palette of 256 colors, the longest chunk that libpng may have to gather.
    private static let longestGathered = 768

    /// Chunks after the pixels that may be EXIF or XMP, whole.
    private(set) var late = Data()
    private var head = Data()
    private var treatment = Treatment.drop
    /// Bytes of the chunk, checksum included, that are still to come.
    private var left = 0
    private var isPastEnd = false
    /// Of a chunk that is replaced: its name, the checksum of the bytes so far, and the last bytes, its own checksum.
    private var replaced = (name: Data(), checksum: UInt32(0), end: Data())

    /// Takes bytes from the beginning of `rest`.
    ///
    /// - Parameter most: The maximum number of bytes of a piece that is longer than a chunk's header.
    /// - Returns: The next bytes for libpng; nil when nothing is left.
    mutating func next(_ rest: inout Data, limits: DecodingLimits, atMost most: Int = .max) -> Data? {
        while !rest.isEmpty, !isPastEnd || left > 0 {
            if left > 0 {
                if let piece = pass(&rest, atMost: most) { return piece }
                continue
            }
            head.append(take(PNGChunk.headerByteCount - head.count, from: &rest))
            guard head.count == PNGChunk.headerByteCount else { return nil }
            let header = head
            head = Data()
            if let piece = begin(header, limits) { return piece }
        }
        return nil
    }

    /// Takes the next bytes of the chunk; nil when libpng is to get nothing in their place.
    private mutating func pass(_ rest: inout Data, atMost most: Int) -> Data? {
        let isBody = treatment == .replace && left > 4
        let piece = take(min(isBody ? left - 4 : left, most), from: &rest)
        left -= piece.count
        switch treatment {
        case .pass: return piece
        case .keep: late.append(piece)
        case .drop: break
        case .replace:
            if isBody {
                replaced.checksum = Self.checksum(of: piece, after: replaced.checksum)
            } else {
                replaced.end.append(piece)
                if left == 0 { return replacement }
            }
        }
        return nil
    }

    private mutating func begin(_ header: Data, _ limits: DecodingLimits) -> Data? {
        let fields = Array(header)
        let (length, name) = fields.withUnsafeBufferPointer { bytes in
            (bytes.bigEndian(at: 0), UInt32(truncatingIfNeeded: bytes.bigEndian(at: 4)))
        }
        left = length + 4
        isPastEnd = name == PNGChunk.Name.iend
        let isAncillary = fields[4] & 0x20 != 0
        let isNamed = fields[4...].allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20) }
        // libpng reports what is wrong, here by the header alone.
        let isJudgedByHeader = !isNamed || length > PNGChunk.longest || name == PNGChunk.Name.ihdr
        if isJudgedByHeader || name == PNGChunk.Name.idat || !isAncillary && length <= Self.longestGathered {
            treatment = .pass
            return header
        }
        guard isAncillary else {
            treatment = .replace
            let name = header.suffix(4)
            replaced = (name, Self.checksum(of: name, after: 0), Data())
            return nil
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

    private var replacement: Data {
        var chunk = PNGFrameFile.chunk(String(decoding: replaced.name, as: UTF8.self), [])
        let end = replaced.end.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        if end != replaced.checksum { chunk[chunk.count - 1] ^= 1 }
        return Data(chunk)
    }

    private static func checksum(of bytes: Data, after checksum: UInt32) -> UInt32 {
        bytes.bytes.withUnsafeBytes { memory in
            alcedo_png_crc_continued(checksum, memory.assumingMemoryBound(to: UInt8.self).baseAddress, memory.count)
        }
    }

    private static let placeholder = Data(PNGFrameFile.chunk("tEXt", []))
}
