import AlcedoCore
import FoundationEssentials

/// Hands over the rows of a frame as libwebp finishes them.
struct WebPRowStream {
    private let frame: WebPFrame
    private let pieces: WebPPieces

    /// Bytes that libwebp gets before finished rows are handed over.
    private static let pieceByteCount = 32 << 10

    init(_ frame: WebPFrame, size: PixelSize) throws(ImageDecodingError) {
        self.frame = frame
        pieces = try WebPPieces(frame, size: size)
    }

    /// Sends all rows and the end; the beginning was sent.
    func send(_ data: Data, to consumer: any PixelRowConsumer) throws {
        try data.bytes.withUnsafeBytes { memory in
            let bytes = frame.bytes(in: memory.assumingMemoryBound(to: UInt8.self))
            var (sentRows, count) = (0, 0)
            while count < bytes.count {
                count = min(bytes.count, count + Self.pieceByteCount)
                try pieces.advance(UnsafeBufferPointer(rebasing: bytes[..<count]))
                while sentRows < pieces.rowCount {
                    try pieces.withRow(sentRows) { try consumer.consume($0) }
                    sentRows += 1
                }
                pieces.release(rowsBefore: sentRows)
            }
            _ = try pieces.finished()
        }
        try consumer.finish()
    }
}
