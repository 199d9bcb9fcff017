import AlcedoCore
import FoundationEssentials

/// Reads a picture that is not interlaced row by row. Memory: a few rows.
struct PNGRowStream {
    let reader: PNGReader
    let plan: PNGPlan

    /// Hands the stored rows to `consumer`, its beginning included, its end not. To be called once.
    ///
    /// - Returns: The number of rows that were handed over, and what was found wrong, which is not the final word:
    ///   ``PNGPushReader`` accepts a little more.
    /// - Throws: ``ImageDecodingError``, or what the consumer throws.
    func send(to consumer: any PixelRowConsumer) throws -> (rows: Int, ImageDecodingError?) {
        let header = plan.rowHeader
        let rowBytes = header.bytesPerRow
        let batch = max(1, PNGPlan.batchByteCount / rowBytes)
        var scratch = [UInt8](repeating: 0, count: batch * rowBytes)
        try reader.start(plan.format, premultiplies: plan.premultiplies)
        try consumer.begin(header)
        var sent = 0
        while sent < header.size.height {
            let count = min(batch, header.size.height - sent)
            let problem = try scratch.withUnsafeMutableBytes { memory -> ImageDecodingError? in
                if let problem = reader.readRows(count, into: memory, stride: rowBytes) { return problem }
                for row in 0..<count {
                    let bytes = UnsafeRawBufferPointer(rebasing: memory[row * rowBytes..<(row + 1) * rowBytes])
                    try consumer.consume(RawSpan(_unsafeBytes: bytes))
                }
                return nil
            }
            if let problem { return (sent, problem) }
            sent += count
        }
        return (sent, reader.finish())
    }
}
