import AlcedoCore
private import CPNGShim
import FoundationEssentials

/// Reads a damaged picture that is not interlaced row by row. Memory: ``PNGPlan/pushedByteCount``.
struct PNGPushedRows {
    let file: PNGFile
    let plan: PNGPlan

    /// Hands the stored rows from `first` on, as far as they reach, to a consumer that has begun and that does not end
    /// here.
    ///
    /// - Returns: The number of rows of the file, those before `first` included, and what is wrong with it.
    /// - Throws: `outOfMemory`, or what the consumer throws.
    func send(from first: Int = 0, to consumer: any PixelRowConsumer) throws -> (rows: Int, ImageDecodingError?) {
        let reader = try PNGPushReader(plan.format, limits: plan.options.limits)
        let rowBytes = plan.rowHeader.bytesPerRow
        let most = plan.pushedPieceByteCount
        var batch = [UInt8](repeating: 0, count: plan.pushedRowCount * rowBytes)
        var made = 0
        try batch.withUnsafeMutableBytes { memory in
            reader.feed(file.head, into: PNGPushReader.Output(memory: memory, stride: rowBytes))
            var rest = file.body
            while let piece = reader.next(&rest, atMost: most) {
                reader.feed(piece, into: PNGPushReader.Output(memory: memory, stride: rowBytes, firstRow: made))
                let end = Int(reader.progress.rows)
                for y in max(first, made)..<max(first, end) {
                    let start = (y - made) * rowBytes
                    let row = UnsafeMutableRawBufferPointer(rebasing: memory[start..<start + rowBytes])
                    if plan.premultiplies { plan.premultiply(row) }
                    try consumer.consume(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(row)))
                }
                made = end
            }
        }
        return (made, reader.problem)
    }
}
