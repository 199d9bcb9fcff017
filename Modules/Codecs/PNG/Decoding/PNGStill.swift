import AlcedoCore
private import CPNGShim
import FoundationEssentials

/// A decoder of a still image, or of the still image of an animation, which programs without APNG support show.
struct PNGStill {
    let file: PNGFile
    let reader: PNGReader
    let plan: PNGPlan

    /// Creates a decoder.
    ///
    /// - Throws: `exceedsLimit`.
    init(_ file: PNGFile, _ options: DecodingOptions) throws(ImageDecodingError) {
        self.file = file
        reader = file.reader
        reader.endWhenCanceled()
        plan = PNGPlan(file.reader.header, file.info, options)
        try plan.check()
    }

    /// Returns the image, or a partial image if the options allow it.
    static func decode(_ file: PNGFile, _ options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
        let still = try PNGStill(file, options)
        do throws(ImageDecodingError) {
            let damage = still.reader.damage
            try options.check(damage)
            return try still.plan.image(
                still.plan.isReducedByRows ? still.reduced() : still.fullSize(), damage: damage)
        } catch {
            guard error.code == .truncated || error.code == .corrupt else { throw error }
        }
        return try still.decodedPartially()
    }

    /// Sends the stored rows, reduced, to `consumer`. The image must not be interlaced and must not require rotation.
    /// Returns the damage that the options tolerate.
    func sendRows(to consumer: any PixelRowConsumer) throws -> ImageDamage? {
        try plan.options.check(reader.damage)
        let reducer = BoxReducer(plan.reduction, next: consumer)
        let (sent, problem) = try PNGRowStream(reader: reader, plan: plan).send(to: reducer)
        var damage = reader.damage
        if let problem {
            guard problem.code != .decoderUnavailable else { throw problem }
            let pushed = try PNGPushedRows(file: file, plan: plan).send(from: sent, to: reducer)
            damage = pushed.damage
            try plan.check(damage, pushed.error)
        }
        try reducer.finish()
        return .worst(damage, plan.info.metadataDamage)
    }

    /// Decodes the file again from the beginning with ``PNGPushReader``, whose error is final. Allocates no memory for
    /// pixels before it is known that there will be an image, and in which format.
    private func decodedPartially() throws(ImageDecodingError) -> DecodedImage {
        let reader = try PNGPushReader.validate(file, limits: plan.options.limits)
        let damage = reader.damage
        try plan.check(damage, reader.error)
        if let damage, reader.progress.has_pixels == 0 { throw damage.error }
        let isWhole = damage?.kind != .missingPixels
        // Gray samples cannot be transparent.
        let shown = isWhole || !plan.format.isGray ? plan : plan.withAlphaChannel
        try shown.check()
        guard shown.isReducedByRows else { return try PNGPartialImage.decode(file, shown) }
        return try part(shown, isWhole: isWhole, damage)
    }

    /// Returns the reduced image, with transparent rows in place of missing ones.
    private func part(
        _ plan: PNGPlan, isWhole: Bool, _ damage: ImageDamage?
    ) throws(ImageDecodingError) -> DecodedImage {
        let pixels = try collected(by: plan.reduction) { reducer in
            var header = plan.rowHeader
            if !isWhole, header.alphaMode == .opaque { header.alphaMode = .straight }
            try reducer.begin(header)
            let rows = try PNGPushedRows(file: file, plan: plan).send(to: reducer).rows
            let missing = [UInt8](repeating: 0, count: rows < header.size.height ? header.bytesPerRow : 0)
            for _ in rows..<header.size.height {
                try missing.withUnsafeBytes { try reducer.consume(RawSpan(_unsafeBytes: $0)) }
            }
        }
        return try plan.image(pixels, damage: damage)
    }

    private func reduced() throws(ImageDecodingError) -> PixelBuffer {
        try collected(by: plan.reduction) { reducer in
            if let problem = try PNGRowStream(reader: reader, plan: plan).send(to: reducer).1 { throw problem }
        }
    }

    /// Returns the image of the rows that `body` sends. `body` must not finish the consumer.
    private func collected(
        by reduction: BoxReduction, _ body: (BoxReducer) throws -> Void
    ) throws(ImageDecodingError) -> PixelBuffer {
        let image = try PixelRowCollector.image { collector in
            let reducer = BoxReducer(reduction, next: collector)
            try body(reducer)
            try reducer.finish()
        }
        guard let image else {
            throw ImageDecodingError(.corrupt, "PNG: the decoder produced no image")
        }
        return image.pixels
    }

    private func fullSize() throws(ImageDecodingError) -> PixelBuffer {
        try reader.start(plan.format, premultiplies: plan.premultiplies)
        var problem: ImageDecodingError?
        let pixels = PixelBuffer(size: plan.header.size, format: plan.format, alphaMode: plan.alphaMode) {
            memory, stride in
            problem = reader.readAll(into: memory, stride: stride)
        }
        if let problem { throw problem }
        guard let pixels else {
            throw ImageDecodingError.noMemory(for: plan.header.size)
        }
        return plan.reduction.factor > 1 ? try pixels.reduced(by: plan.reduction) : pixels
    }
}

/// A stream that reads a non-interlaced image in batches of rows. Memory: about ``PNGPlan/batchByteCount`` bytes, at
/// least one row, in addition to the reader.
private struct PNGRowStream {
    let reader: PNGReader
    let plan: PNGPlan

    /// Begins `consumer` and sends it the stored rows, without finishing it. Call this method once.
    ///
    /// - Returns: The number of rows sent, and the error that was found, or nil. The error is not final, because
    ///   ``PNGPushReader`` accepts slightly more.
    /// - Throws: ``/AlcedoCore/ImageDecodingError``, or the error that the consumer throws.
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

/// A stream that reads a non-interlaced image, which can be damaged, with ``PNGPushReader``. Memory:
/// ``PNGPlan/pushedByteCount`` bytes in addition to the reader.
private struct PNGPushedRows {
    let file: PNGFile
    let plan: PNGPlan

    /// Sends the stored rows from `first` on, as far as they can be decoded, to a consumer that has begun. Does not
    /// finish the consumer.
    ///
    /// - Returns: The number of decoded rows, including those before `first`, the damage of the file, and the error
    ///   that ended decoding.
    /// - Throws: `outOfMemory`, or the error that the consumer throws.
    func send(
        from first: Int = 0, to consumer: any PixelRowConsumer
    ) throws -> (rows: Int, damage: ImageDamage?, error: ImageDecodingError?) {
        let reader = try PNGPushReader(plan.format, limits: plan.options.limits)
        let rowBytes = plan.rowHeader.bytesPerRow
        let limit = plan.pushedPieceByteCount
        var batch = [UInt8](repeating: 0, count: plan.pushedRowCount * rowBytes)
        var decodedRows = 0
        try batch.withUnsafeMutableBytes { memory in
            reader.feed(file.head, into: PNGPushReader.Output(memory: memory, stride: rowBytes))
            var rest = file.body
            while let piece = reader.next(&rest, atMost: limit) {
                reader.feed(piece, into: PNGPushReader.Output(memory: memory, stride: rowBytes, firstRow: decodedRows))
                let end = Int(reader.progress.rows)
                for y in max(first, decodedRows)..<max(first, end) {
                    let start = (y - decodedRows) * rowBytes
                    let row = UnsafeMutableRawBufferPointer(rebasing: memory[start..<start + rowBytes])
                    if plan.premultiplies { plan.premultiply(row) }
                    try consumer.consume(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(row)))
                }
                decodedRows = end
            }
        }
        return (decodedRows, reader.damage, reader.error)
    }
}
