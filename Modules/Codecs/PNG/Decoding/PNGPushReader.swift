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
    private var damage: ImageDecodingError?

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
        damage ?? (progress.is_whole != 0 ? nil : ImageDecodingError(.truncated, "PNG: the file ends early"))
    }

    /// Takes the next piece from the beginning of `rest`, which begins with the first pixels; nil when nothing is left
    /// that libpng needs.
    func next(_ rest: inout Data, atMost most: Int = .max) -> Data? {
        damage == nil ? filter.next(&rest, limits: limits, atMost: most) : nil
    }

    /// Decodes the head of the file, or a piece of ``next(_:atMost:)``.
    ///
    /// - Parameter output: nil when the rows are not needed.
    /// - Returns: The damage that was found.
    @discardableResult
    func feed(_ bytes: Data, into output: Output?) -> ImageDecodingError? {
        damage = bytes.bytes.withUnsafeBytes { input -> ImageDecodingError? in
            guard let from = input.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return nil }
            let status = alcedo_png_push(
                push, from, input.count, output?.memory.baseAddress?.assumingMemoryBound(to: UInt8.self),
                output?.stride ?? 0, output?.memory.count ?? 0, UInt32(clamping: output?.firstRow ?? 0))
            return PNGReader.error(status, push)
        }
        return damage
    }

    /// Reads a whole file without writing a row, to find out what is wrong with it and how far its rows reach.
    ///
    /// - Throws: `outOfMemory`.
    static func judge(_ file: PNGFile, limits: DecodingLimits) throws(ImageDecodingError) -> PNGPushReader {
        let reader = try PNGPushReader(.rgba8, limits: limits)
        reader.feed(file.head, into: nil)
        var rest = file.body
        while let piece = reader.next(&rest) { reader.feed(piece, into: nil) }
        return reader
    }
}
