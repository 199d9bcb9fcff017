import AlcedoCore
import FoundationEssentials

/// A decoder that reduces the size of a lossy frame. It averages luma and chroma as libwebp finishes their rows, and
/// converts only the averages to RGB.
///
/// The scaler of libwebp takes a quarter longer for typical web images. Its result differs in rounding, and in chroma
/// when a side keeps more than half its length, because libwebp then interpolates chroma. Both skip the filter between
/// blocks. Source rows of large planes are released, so that usually only a few MiB of each plane stay in memory.
final class WebPAverager {
    private let size: PixelSize
    private let luma: WebPRowMemory
    private let chroma: (blue: WebPRowMemory, red: WebPRowMemory)
    private let lumaWidth: Int
    private let chromaSize: PixelSize
    private let decoder: WebPRowDecoder
    private var averagers: (luma: PlaneAverager, blue: PlaneAverager, red: PlaneAverager)
    private var pixels: [UInt8]
    /// The number of rows that have been sent.
    private(set) var rowCount = 0

    /// The approximate number of rows in a piece that is passed to libwebp. Pieces of a small file contain more.
    private static let rowsAtOnce = 128
    private static let minimumPieceByteCount = 4 << 10

    /// Returns whether a frame is averaged: it is lossy without alpha, and each side is reduced to less than three
    /// quarters, rounded down. For such sizes, the scaler of libwebp skips the filter, too.
    static func averages(_ frame: WebPFrame, to size: PixelSize) -> Bool {
        let full = frame.area.size
        return !frame.isLossless && !frame.declaresAlpha && size.width < full.width * 3 / 4
            && size.height < full.height * 3 / 4
    }

    /// Returns the number of bytes in the planes, all of which can be in memory at the same time.
    static func planeByteCount(_ frame: WebPFrame) -> Int {
        frame.area.size.pixelCount + 2 * chromaSize(frame).pixelCount
    }

    private static func chromaSize(_ frame: WebPFrame) -> PixelSize {
        PixelSize(width: (frame.area.size.width + 1) / 2, height: (frame.area.size.height + 1) / 2)
    }

    /// Creates the planes and the decoder. `size` and the size of the frame must be within the limits.
    ///
    /// - Throws: `outOfMemory`.
    init(_ frame: WebPFrame, size: PixelSize) throws(ImageDecodingError) {
        let full = frame.area.size
        self.size = size
        lumaWidth = full.width
        chromaSize = Self.chromaSize(frame)
        luma = try WebPRowMemory(byteCount: full.pixelCount)
        chroma = (
            try WebPRowMemory(byteCount: chromaSize.pixelCount), try WebPRowMemory(byteCount: chromaSize.pixelCount)
        )
        decoder = try WebPRowDecoder(
            WebPSettings.planes(
                luma.bytes, width: lumaWidth, blue: chroma.blue.bytes, red: chroma.red.bytes, width: chromaSize.width),
            height: full.height)
        let chromaAverager = PlaneAverager(from: chromaSize, to: size)
        averagers = (PlaneAverager(from: full, to: size), chromaAverager, chromaAverager)
        pixels = Array(repeating: 255, count: size.width * 4)
    }

    /// Decodes the bytes of the frame, which must be complete, and sends the rows as opaque RGBA8.
    ///
    /// - Returns: Whether libwebp decoded the frame successfully. If not, ``rowCount`` rows have been sent.
    /// - Throws: `outOfMemory`, or the errors of the consumer.
    func send(_ bytes: UnsafeBufferPointer<UInt8>, to consumer: any PixelRowConsumer) throws -> Bool {
        let piece = max(Self.minimumPieceByteCount, bytes.count / max(1, decoder.height) * Self.rowsAtOnce)
        var count = 0
        while count < bytes.count {
            count += min(piece, bytes.count - count)
            do throws(ImageDecodingError) {
                try decoder.advance(UnsafeBufferPointer(rebasing: bytes[..<count]))
            } catch {
                guard error.code != .outOfMemory else { throw error }
                return false
            }
            while rowCount < size.height, makeRow() {
                try pixels.withUnsafeBytes { try consumer.consume(RawSpan(_unsafeBytes: $0)) }
                rowCount += 1
            }
            release()
        }
        return decoder.isComplete
    }

    /// Computes the next row. Returns `false` when source rows are missing.
    private func makeRow() -> Bool {
        let chromaRows = decoder.rowCount == decoder.height ? chromaSize.height : decoder.rowCount / 2
        guard averagers.luma.rows(of: rowCount).end <= decoder.rowCount,
            averagers.blue.rows(of: rowCount).end <= chromaRows
        else { return false }
        averagers.luma.make(rowCount, of: UnsafePointer(luma.samples))
        averagers.blue.make(rowCount, of: UnsafePointer(chroma.blue.samples))
        averagers.red.make(rowCount, of: UnsafePointer(chroma.red.samples))
        convert()
        return true
    }

    /// Converts luma and chroma to RGB. Source: ITU-R BT.601 in the narrow range, as specified in RFC 6386 section 9.2.
    private func convert() {
        let forBlue = SIMD4<Float>(0, -0.391_762, 2.017_232, 0)
        let forRed = SIMD4<Float>(1.596_027, -0.812_968, 0, 0)
        let (lights, blues, reds) = (averagers.luma.row, averagers.blue.row, averagers.red.row)
        pixels.withUnsafeMutableBytes { pixels in
            for x in lights.indices {
                let light = 1.164_383 * (lights[x] - 16)
                let pixel =
                    SIMD4(light, light, light, 255) + forBlue * (blues[x] - 128) + forRed * (reds[x] - 128)
                let positive = SIMD4<Float>(repeating: 0).replacing(with: pixel, where: pixel .> 0)
                let clamped = positive.replacing(with: 255, where: positive .> 255)
                // Adding 1.5 × 2²³ moves the integer to the lowest bits. The conversion of the standard library is not
                // vectorized.
                let bits = unsafeBitCast(clamped + 12_582_912, to: SIMD4<UInt32>.self)
                pixels.storeBytes(
                    of: SIMD4<UInt8>(truncatingIfNeeded: bits), toByteOffset: 4 &* x, as: SIMD4<UInt8>.self)
            }
        }
    }

    /// Releases source rows that no further row needs. See ``WebPRowMemory/release(first:)``.
    private func release() {
        guard rowCount < size.height else { return }
        let chromaRows = averagers.blue.rows(of: rowCount).first
        luma.release(first: averagers.luma.rows(of: rowCount).first * lumaWidth)
        chroma.blue.release(first: chromaRows * chromaSize.width)
        chroma.red.release(first: chromaRows * chromaSize.width)
    }
}

extension WebPFrame {
    /// Returns the averaged frame, or `nil` when ``WebPAverager`` does not apply or libwebp does not decode the whole
    /// frame. `bytes` is the file and must contain the whole frame.
    ///
    /// - Throws: `outOfMemory`.
    func averaged(
        _ bytes: UnsafeBufferPointer<UInt8>, to size: PixelSize
    ) throws(ImageDecodingError) -> PixelBuffer? {
        guard WebPAverager.averages(self, to: size) else { return nil }
        return try PixelRowCollector.image { collector in
            try collector.begin(PixelRowHeader(size: size, format: .rgba8, alphaMode: .opaque))
            guard try WebPAverager(self, size: size).send(self.bytes(in: bytes), to: collector) else { return }
            try collector.finish()
        }?.pixels
    }
}
