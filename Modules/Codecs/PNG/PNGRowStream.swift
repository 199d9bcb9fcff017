import AlcedoCore
import FoundationEssentials

/// Reads a picture that is not interlaced row by row. Memory: a few rows.
struct PNGRowStream {
    /// Rows are read in batches of about this size.
    static let scratchByteCount = 32 << 10

    let reader: PNGReader
    let plan: PNGPlan

    /// Hands the stored rows to `consumer`, from its beginning to its end.
    ///
    /// - Returns: The damage of a part, when parts are allowed; the missing rows were transparent.
    /// - Throws: ``ImageDecodingError``, or what the consumer throws.
    func send(to consumer: any PixelRowConsumer) throws -> ImageDecodingError? {
        let header = plan.rowHeader
        let rowBytes = header.bytesPerRow
        let batch = max(1, Self.scratchByteCount / rowBytes)
        var scratch = [UInt8](repeating: 0, count: batch * rowBytes)
        try reader.start(plan.format, premultiplies: plan.premultiplies)
        try consumer.begin(header)
        var y = 0
        var damage: ImageDecodingError?
        while y < header.size.height {
            let count = min(batch, header.size.height - y)
            var whole = count
            if damage == nil {
                damage = scratch.withUnsafeMutableBytes { reader.readRows(count, into: $0, stride: rowBytes) }
                whole = reader.rowCount - y
                if let damage, !plan.options.isPartAllowed(damage) || !reader.hasPixels { throw damage }
            } else {
                whole = 0
            }
            try scratch.withUnsafeMutableBytes { memory in
                if whole < count { memory[(whole * rowBytes)...].initializeToZero() }
                for row in 0..<count {
                    let bytes = UnsafeRawBufferPointer(rebasing: memory[row * rowBytes..<(row + 1) * rowBytes])
                    try consumer.consume(RawSpan(_unsafeBytes: bytes))
                }
            }
            y += count
        }
        if damage == nil {
            damage = reader.finish()
            if let damage, !plan.options.isPartAllowed(damage) { throw damage }
        }
        try consumer.finish()
        return damage
    }
}

extension Slice<UnsafeMutableRawBufferPointer> {
    /// Sets all bytes to nought.
    func initializeToZero() {
        UnsafeMutableRawBufferPointer(rebasing: self).initializeMemory(as: UInt8.self, repeating: 0)
    }
}
