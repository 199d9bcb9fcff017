import AlcedoCore
import CPNGShim
import FoundationEssentials

/// libpng's progressive reader, preceded by a filter of chunks.
///
/// The reader decodes as far as the received bytes allow, and its errors do not depend on how the bytes are divided
/// into pieces. The error that it reports is therefore final. For a truncated file, the number of rows decoded from the
/// last bytes can depend on the pieces.
final class PNGPushReader {
    /// The memory that receives rows.
    struct Output {
        var memory: UnsafeMutableRawBufferPointer
        var stride: Int
        /// The number of the row at the beginning of the memory.
        var firstRow = 0
    }

    private let push: OpaquePointer
    private let limits: DecodingLimits
    private var filter = PNGChunkFilter()
    /// The error that ended decoding, or nil.
    private(set) var error: ImageDecodingError?

    /// Starts libpng.
    ///
    /// - Throws: `outOfMemory`.
    init(_ format: PixelFormat, limits: DecodingLimits) throws(ImageDecodingError) {
        guard let push = alcedo_png_create_push(max(1, limits.maximumChunkByteCount)) else {
            throw ImageDecodingError(.outOfMemory, "PNG: cannot create a libpng context: out of memory")
        }
        self.push = push
        self.limits = limits
        alcedo_png_start(push, format.shimFormat, 0, 0)
    }

    deinit { alcedo_png_destroy(push) }

    var progress: alcedo_png_progress { alcedo_png_get_progress(push) }

    /// The chunks after the first chunk of pixels that may hold EXIF or XMP, within the limits. The last one can be
    /// incomplete.
    var lateChunks: Data { filter.late }

    /// Whether a complete chunk of an animation follows the first chunk of pixels.
    var hasAnimationChunks: Bool { filter.hasAnimationChunks }

    /// The damage of the file, assuming that it ends here; nil when the file is complete.
    var damage: ImageDamage? {
        let end = progress.is_whole != 0 ? nil : ImageDecodingError(.truncated, "PNG: the file is truncated")
        let problem = (error ?? end).map { ImageDamage(progress.has_all_rows != 0 ? .harmless : .missingPixels, $0) }
        let checksum = filter.hasWrongChecksum ? ImageDecodingError(.corrupt, "PNG: a checksum does not match") : nil
        let late = checksum.map { ImageDamage(.harmless, $0) }
        return .worst(.worst(problem, PNGReader.damage(progress.damage, push)), late)
    }

    /// Removes bytes from `rest` and returns the next piece for libpng. The bytes of the first call begin with the
    /// first chunk of pixels. Returns nil after an error, and when `rest` completes no further piece.
    func next(_ rest: inout Data, atMost limit: Int = .max) -> Data? {
        error == nil ? filter.next(&rest, limits: limits, atMost: limit) : nil
    }

    /// Decodes the head of the file, or a piece from ``next(_:atMost:)``.
    ///
    /// - Parameters:
    ///   - bytes: The bytes to decode.
    ///   - output: The memory for the rows; nil when the rows are not needed.
    /// - Returns: The error that was found, or nil.
    @discardableResult
    func feed(_ bytes: Data, into output: Output?) -> ImageDecodingError? {
        error = bytes.bytes.withUnsafeBytes { input -> ImageDecodingError? in
            guard let from = input.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return nil }
            let status = alcedo_png_push(
                push, from, input.count, output?.memory.baseAddress?.assumingMemoryBound(to: UInt8.self),
                output?.stride ?? 0, output?.memory.count ?? 0, UInt32(clamping: output?.firstRow ?? 0))
            return PNGReader.error(status, push)
        }
        return error
    }

    /// Returns a reader that has read a file, up to its first error, without writing rows. Its ``damage`` is that of
    /// the file, and its ``progress`` contains the number of decoded rows.
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

/// A filter that receives the chunks from the first chunk of pixels on, passes those that libpng needs, and keeps
/// metadata chunks.
///
/// libpng's progressive reader collects every chunk except pixel chunks, and copies the collected bytes again whenever
/// bytes arrive. The filter makes this work linear and limits its memory. Because libpng checks the order of chunks,
/// the filter passes a short chunk in place of each chunk that libpng does not need. A critical chunk that is longer
/// than any that libpng must collect is replaced by an empty chunk of the same name. The checksum of the replacement is
/// correct if that of the original is.
private struct PNGChunkFilter {
    private enum Treatment {
        case pass, keep, drop, replace
    }

    /// The size of a palette with 256 colors, the longest chunk that libpng must collect.
    private static let maximumGatheredByteCount = 768

    /// The chunks after the first chunk of pixels that may hold EXIF or XMP, within the limits. The last one can be
    /// incomplete.
    private(set) var late = Data()
    private var head = Data()
    private var treatment = Treatment.drop
    /// The remaining bytes of the current chunk, including its checksum.
    private var left = 0
    private var isPastEnd = false
    /// Whether the checksum of a complete chunk that libpng does not get is wrong.
    private(set) var hasWrongChecksum = false
    /// Whether a complete chunk belongs to an animation.
    private(set) var hasAnimationChunks = false
    /// The state of a chunk that libpng does not get: its name, the checksum of the bytes so far, and the stored
    /// checksum.
    private var replaced = (name: Data(), checksum: UInt32(0), end: Data())

    /// Removes bytes from the beginning of `rest`.
    ///
    /// - Parameters:
    ///   - rest: The bytes that have not been read.
    ///   - limits: The limits on metadata and chunks.
    ///   - limit: The maximum size of a piece of a chunk's body. Chunk headers and short chunks that replace others are
    ///     returned whole.
    /// - Returns: The next bytes for libpng, or nil when `rest` completes no further piece.
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

    /// Removes the next bytes of the chunk. Returns them, or the chunk that replaces them, or nil when libpng gets
    /// neither.
    private mutating func pass(_ rest: inout Data, atMost limit: Int) -> Data? {
        let isBody = treatment != .pass && left > 4
        let piece = take(min(isBody ? left - 4 : left, limit), from: &rest)
        left -= piece.count
        guard treatment != .pass else { return piece }
        if treatment == .keep { late.append(piece) }
        if isBody {
            replaced.checksum = Self.checksum(of: piece, after: replaced.checksum)
        } else {
            replaced.end.append(piece)
        }
        guard left == 0 else { return nil }
        let isIntact = replaced.end.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } == replaced.checksum
        if treatment == .replace { return replacement(isIntact: isIntact) }
        hasWrongChecksum = hasWrongChecksum || !isIntact
        if PNGChunk.isOfAnimation(replaced.name.reduce(0) { $0 << 8 | UInt32($1) }) { hasAnimationChunks = true }
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
        // libpng reports the errors that the chunk header shows.
        let isReportedByHeader = !isNamed || length > PNGChunk.maximumByteCount || name == PNGChunk.Name.ihdr
        if isReportedByHeader || name == PNGChunk.Name.idat || !isAncillary && length <= Self.maximumGatheredByteCount {
            treatment = .pass
            return header
        }
        replaced = (header.suffix(4), Self.checksum(of: header.suffix(4), after: 0), Data())
        guard isAncillary else {
            treatment = .replace
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

    private func replacement(isIntact: Bool) -> Data {
        var chunk = PNGFrameFile.chunk(String(decoding: replaced.name, as: UTF8.self), [])
        if !isIntact { chunk[chunk.count - 1] ^= 1 }
        return Data(chunk)
    }

    private static func checksum(of bytes: Data, after checksum: UInt32) -> UInt32 {
        bytes.bytes.withUnsafeBytes { memory in
            alcedo_png_crc_continued(checksum, memory.assumingMemoryBound(to: UInt8.self).baseAddress, memory.count)
        }
    }

    private static let placeholder = Data(PNGFrameFile.chunk("tEXt", []))
}
