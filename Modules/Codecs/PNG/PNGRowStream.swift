import AlcedoCore
import FoundationEssentials

/// Reads a picture that is not interlaced row by row. Memory: a few rows.
struct PNGRowStream {
    let reader: PNGReader
    let plan: PNGPlan

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
        for y in stride(from: 0, to: header.size.height, by: batch) {
            let count = min(batch, header.size.height - y)
            try scratch.withUnsafeMutableBytes { memory in
                if let problem = reader.readRows(count, into: memory, stride: rowBytes) { throw problem }
                for row in 0..<count {
                    let bytes = UnsafeRawBufferPointer(rebasing: memory[row * rowBytes..<(row + 1) * rowBytes])
                    try consumer.consume(RawSpan(_unsafeBytes: bytes))
                }
            }
        }
        if let problem = reader.finish() { throw problem }
        try consumer.finish()
    }
}
