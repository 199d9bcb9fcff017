import AlcedoCore
import FoundationEssentials

/// Reads a picture that is not interlaced row by row. Memory: a few rows; of a damaged file all of them.
struct PNGRowStream {
    let reader: PNGReader
    let plan: PNGPlan
    /// The whole picture by the other reader, which accepts a little more damage, or says what is wrong with it in the
    /// words that count.
    let whole: () throws -> PixelBuffer

    /// Hands the stored rows to `consumer`, from its beginning to its end.
    ///
    /// - Throws: ``ImageDecodingError``, or what the consumer throws.
    func send(to consumer: any PixelRowConsumer) throws {
        let header = plan.rowHeader
        let rowBytes = header.bytesPerRow
        let batch = max(1, PNGPlan.batchByteCount / rowBytes)
        var scratch = [UInt8](repeating: 0, count: batch * rowBytes)
        try reader.start(plan.format, premultiplies: plan.premultiplies)
        try consumer.begin(header)
        var sent = 0
        while sent < header.size.height {
            let count = min(batch, header.size.height - sent)
            let isGood = try scratch.withUnsafeMutableBytes { memory in
                guard reader.readRows(count, into: memory, stride: rowBytes) == nil else { return false }
                for row in 0..<count {
                    let bytes = UnsafeRawBufferPointer(rebasing: memory[row * rowBytes..<(row + 1) * rowBytes])
                    try consumer.consume(RawSpan(_unsafeBytes: bytes))
                }
                return true
            }
            guard isGood else { break }
            sent += count
        }
        if sent < header.size.height || reader.finish() != nil {
            let whole = try whole()
            for y in sent..<whole.height { try consumer.consume(whole.row(y)) }
        }
        try consumer.finish()
    }
}
