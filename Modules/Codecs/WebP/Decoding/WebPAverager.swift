import AlcedoCore
import FoundationEssentials

/// Decodes a lossy frame to a smaller size: averages luma and chroma as libwebp finishes their rows, and turns only what
/// is left into colours.
///
/// libwebp's own scaler gives the same within rounding, but takes a quarter longer for pictures of the web. Like that one
/// it leaves out the filter between blocks, whose work the averages do. What stays in memory is a few rows.
final class WebPAverager {
    private let size: PixelSize
    private let luma: WebPRowMemory
    private let chroma: (blue: WebPRowMemory, red: WebPRowMemory)
    private let lumaWidth: Int
    private let chromaSize: PixelSize
    private let decoder: WebPRowDecoder
    private var averagers: (luma: PlaneAverager, blue: PlaneAverager, red: PlaneAverager)
    private var pixels: [UInt8]
    /// Rows that were handed over.
    private(set) var rowCount = 0

    /// libwebp gets the bytes of about this many rows before finished ones are handed over.
    private static let rowsAtOnce = 128
    private static let minimumPieceByteCount = 4 << 10

    /// Whether a frame is one that is averaged: without alpha, and to less than three quarters of each side, where
    /// libwebp leaves out its filter, too.
    static func averages(_ frame: WebPFrame, to size: PixelSize) -> Bool {
        let full = frame.area.size
        return !frame.isLossless && !frame.declaresAlpha && size.width < full.width * 3 / 4
            && size.height < full.height * 3 / 4
    }

    /// Bytes of the planes, all of which may be in memory when they compress to next to nothing.
    static func planeByteCount(_ frame: WebPFrame) -> Int {
        frame.area.size.pixelCount + 2 * chromaSize(frame).pixelCount
    }

    private static func chromaSize(_ frame: WebPFrame) -> PixelSize {
        PixelSize(width: (frame.area.size.width + 1) / 2, height: (frame.area.size.height + 1) / 2)
    }

    /// - Parameter size: Within the limits, as the frame's own.
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

    /// Decodes the frame's bytes, all of which are there, and hands over the rows: opaque RGBA8.
    ///
    /// - Returns: Whether libwebp found the frame good. If not, so many rows as ``rowCount`` says were handed over.
    /// - Throws: `outOfMemory`, or what the consumer throws.
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

    /// Makes the next row; false when rows are missing for it.
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

    /// Luma and chroma to colours. Source: ITU-R BT.601, in the narrow range, as RFC 6386 section 9.2 has it.
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
                // So large that the last bits are the whole number: the compiler's conversion is no vector's.
                let bits = unsafeBitCast(clamped + 12_582_912, to: SIMD4<UInt32>.self)
                pixels.storeBytes(
                    of: SIMD4<UInt8>(truncatingIfNeeded: bits), toByteOffset: 4 &* x, as: SIMD4<UInt8>.self)
            }
        }
    }

    /// Gives back what no further row is made of.
    private func release() {
        guard rowCount < size.height else { return }
        let chromaRows = averagers.blue.rows(of: rowCount).first
        luma.release(first: averagers.luma.rows(of: rowCount).first * lumaWidth)
        chroma.blue.release(first: chromaRows * chromaSize.width)
        chroma.red.release(first: chromaRows * chromaSize.width)
    }
}

extension WebPFrame {
    /// The frame averaged down, when it is one that ``WebPAverager`` does, and libwebp finds it good; else nil.
    ///
    /// - Parameter bytes: Of the file, all of the frame's among them.
    /// - Throws: `outOfMemory`.
    func averaged(
        _ bytes: UnsafeBufferPointer<UInt8>, to size: PixelSize
    ) throws(ImageDecodingError) -> PixelBuffer? {
        guard WebPAverager.averages(self, to: size) else { return nil }
        let collector = PixelRowCollector()
        do {
            try collector.begin(PixelRowHeader(size: size, format: .rgba8, alphaMode: .opaque))
            guard try WebPAverager(self, size: size).send(self.bytes(in: bytes), to: collector) else { return nil }
            try collector.finish()
        } catch {
            throw error as? ImageDecodingError ?? ImageDecodingError(.corrupt, "\(error)")
        }
        return collector.image?.pixels
    }
}
