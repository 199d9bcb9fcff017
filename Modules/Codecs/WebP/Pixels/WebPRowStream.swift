import AlcedoCore
import FoundationEssentials

/// Hands over the rows of a frame as libwebp finishes them.
struct WebPRowStream {
    private let frame: WebPFrame
    private let size: PixelSize
    private let memory: WebPRowMemory
    private let bytesPerRow: Int
    private let decoder: WebPRowDecoder

    /// Bytes that libwebp gets before finished rows are handed over.
    private static let pieceByteCount = 32 << 10

    /// - Parameter size: Within the limits, so that its bytes can be counted.
    init(_ frame: WebPFrame, size: PixelSize) throws(ImageDecodingError) {
        self.frame = frame
        self.size = size
        bytesPerRow = size.width * PixelFormat.rgba8.bytesPerPixel
        memory = try WebPRowMemory(byteCount: size.height * bytesPerRow)
        decoder = try WebPRowDecoder(frame, size: size, into: memory.bytes, bytesPerRow: bytesPerRow)
    }

    /// Sends all rows and the end; the beginning was sent.
    func send(_ data: Data, to consumer: any PixelRowConsumer) throws {
        try data.bytes.withUnsafeBytes { file in
            let file = file.assumingMemoryBound(to: UInt8.self)
            let bytes = frame.bytes(in: file)
            var (sentRows, count) = (0, 0)
            while count < bytes.count {
                count = min(bytes.count, count + Self.pieceByteCount)
                guard try advance(UnsafeBufferPointer(rebasing: bytes[..<count])) else { break }
                while sentRows < decoder.rowCount {
                    let row = memory.bytes[sentRows * bytesPerRow..<(sentRows + 1) * bytesPerRow]
                    try consumer.consume(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(rebasing: row)))
                    sentRows += 1
                }
                memory.release(first: sentRows * bytesPerRow)
            }
            guard !decoder.isComplete else { return }
            // With all bytes at once libwebp is more lenient, and what it says then counts.
            let whole = try frame.pixels(file, size: size, WebPSettings(usesThreads: false))
            for y in sentRows..<whole.height { try consumer.consume(whole.row(y)) }
        }
        try consumer.finish()
    }

    /// False when libwebp refuses the bytes.
    private func advance(_ bytes: UnsafeBufferPointer<UInt8>) throws(ImageDecodingError) -> Bool {
        do throws(ImageDecodingError) {
            try decoder.advance(bytes)
            return true
        } catch {
            guard error.code != .outOfMemory else { throw error }
            return false
        }
    }
}
