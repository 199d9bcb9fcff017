import AlcedoCore
import CPNGShim
import FoundationEssentials

/// libpng's progressive reader behind a filter of chunks.
///
/// It uses every byte that has come, and its errors do not depend on how the bytes come, so its word on damage is final.
/// How many rows the last bytes of a file that ends early give may depend on that.
final class PNGPushReader {
    /// Where rows go.
    struct Output {
        var memory: UnsafeMutableRawBufferPointer
        var stride: Int
        /// The row at the beginning of the memory.
        var firstRow = 0
    }

    private let push: OpaquePointer
    private let limits: DecodingLimits
    private var filter = PNGChunkFilter()
    private var partialError: ImageDecodingError?

    /// - Throws: `outOfMemory`.
    init(_ format: PixelFormat, limits: DecodingLimits) throws(ImageDecodingError) {
        guard let push = alcedo_png_create_push(max(1, limits.maximumChunkByteCount)) else {
            throw ImageDecodingError(.outOfMemory, "libpng could not be started")
        }
        self.push = push
        self.limits = limits
        alcedo_png_start(push, format.shimFormat, 0)
    }

    deinit { alcedo_png_destroy(push) }

    var progress: alcedo_png_progress { alcedo_png_get_progress(push) }

    /// Chunks after the pixels that may be EXIF or XMP, whole.
    var lateChunks: Data { filter.late }

    /// Why the file, if it ends here, is not whole.
    var problem: ImageDecodingError? {
        partialError ?? (progress.is_whole != 0 ? nil : ImageDecodingError(.truncated, "PNG: the file ends early"))
    }

    /// Takes the next piece from the beginning of `rest`, which begins with the first pixels; nil when nothing is left
    /// that libpng needs.
    func next(_ rest: inout Data, atMost limit: Int = .max) -> Data? {
        partialError == nil ? filter.next(&rest, limits: limits, atMost: limit) : nil
    }

    /// Decodes the head of the file, or a piece of ``next(_:atMost:)``.
    ///
    /// - Parameter output: nil when the rows are not needed.
    /// - Returns: The damage that was found.
    @discardableResult
    func feed(_ bytes: Data, into output: Output?) -> ImageDecodingError? {
        partialError = bytes.bytes.withUnsafeBytes { input -> ImageDecodingError? in
            guard let from = input.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return nil }
            let status = alcedo_png_push(
                push, from, input.count, output?.memory.baseAddress?.assumingMemoryBound(to: UInt8.self),
                output?.stride ?? 0, output?.memory.count ?? 0, UInt32(clamping: output?.firstRow ?? 0))
            return PNGReader.error(status, push)
        }
        return partialError
    }

    /// Reads a whole file without writing a row, to find out what is wrong with it and how far its rows reach.
    ///
    /// - Throws: `outOfMemory`.
    static func validate(_ file: PNGFile, limits: DecodingLimits) throws(ImageDecodingError) -> PNGPushReader {
        let reader = try PNGPushReader(.rgba8, limits: limits)
        reader.feed(file.head, into: nil)
        var rest = file.body
        while let piece = reader.next(&rest) { reader.feed(piece, into: nil) }
        return reader
    }
}

/// Leaves libpng the chunks it needs, of those from the first pixels on, and keeps metadata.
///
/// libpng's progressive reader gathers every chunk but pixels, and copies what it has again whenever bytes come. In place
/// of a chunk that libpng does not need it gets a short one, because the place of chunks matters to it. A chunk that a
/// reader must understand, and that is longer than any known one, is replaced by an empty chunk of the same name, whose
/// checksum is right if the checksum of the original is. So the work is linear, and only metadata take memory.
private struct PNGChunkFilter {
    private enum Treatment {
        case pass, keep, drop, replace
    }

    /// Bytes of a palette of 256 colors, the longest chunk that libpng may have to gather.
    private static let maximumGatheredByteCount = 768

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
    /// - Parameter limit: The maximum number of bytes of a piece that is longer than a chunk's header.
    /// - Returns: The next bytes for libpng; nil when nothing is left.
    mutating func next(_ rest: inout Data, limits: DecodingLimits, atMost limit: Int = .max) -> Data? {
        while !rest.isEmpty, !isPastEnd || left > 0 {
            if left > 0 {
                if let piece = pass(&rest, atMost: limit) { return piece }
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
    private mutating func pass(_ rest: inout Data, atMost limit: Int) -> Data? {
        let isBody = treatment == .replace && left > 4
        let piece = take(min(isBody ? left - 4 : left, limit), from: &rest)
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
        let isReportedByHeader = !isNamed || length > PNGChunk.maximumByteCount || name == PNGChunk.Name.ihdr
        if isReportedByHeader || name == PNGChunk.Name.idat || !isAncillary && length <= Self.maximumGatheredByteCount {
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
        let budget = limits.maximumMetadataByteCount - late.count
        treatment = kept.contains(name) && length <= min(limits.maximumChunkByteCount, budget) ? .keep : .drop
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
