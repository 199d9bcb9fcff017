import AlcedoCore
import FoundationEssentials

extension Bitmap {
    private var rowHeader: PixelRowHeader {
        PixelRowHeader(size: header.size, format: format, alphaMode: alphaMode, colorProfile: colorProfile)
    }

    /// Returns the image.
    ///
    /// - Throws: The error of damage that the options do not tolerate, and of a bitmap without pixels; `outOfMemory`.
    func image(_ options: DecodingOptions, as imageFormat: ImageFormat) throws(ImageDecodingError) -> DecodedImage {
        try options.check(damage)
        if let damage, isPartial, !hasPixels { throw damage.error }
        let reduction = BoxReduction(from: header.size, towards: options.averagingTarget)
        let pixels = try reduction.factor > 1 ? collected(options, reduction) : wholePixels(options)
        return DecodedImage(pixels: pixels, colorProfile: colorProfile, format: imageFormat, damage: damage)
    }

    private func wholePixels(_ options: DecodingOptions) throws(ImageDecodingError) -> PixelBuffer {
        let multiplies = options.alphaMode == .premultiplied && alphaMode == .straight
        let used = header.size.width * format.bytesPerPixel
        let pixels = PixelBuffer(
            size: header.size, format: format, alphaMode: multiplies ? .premultiplied : alphaMode
        ) { memory, bytesPerRow in
            for y in 0..<header.size.height {
                let start = y * bytesPerRow
                let row = UnsafeMutableRawBufferPointer(rebasing: memory[start..<start + used])
                writeRow(y, to: row)
                if multiplies { AlphaArithmetic.premultiply(row, format) }
            }
        }
        guard let pixels else { throw ImageDecodingError.noMemory(for: header.size) }
        return pixels
    }

    private func collected(
        _ options: DecodingOptions, _ reduction: BoxReduction
    ) throws(ImageDecodingError) -> PixelBuffer {
        let image = try PixelRowCollector.image { try send(to: options.chain(from: reduction, to: $0)) }
        guard let image else {
            throw ImageDecodingError(.corrupt, "\(name): the decoder produced no image")
        }
        return image.pixels
    }

    /// Sends the rows of a bitmap without missing pixels, converted as the options request. Returns its damage. Memory:
    /// one row.
    ///
    /// - Throws: The error of damage, before the first row, and the errors of the consumer.
    func sendRows(_ options: DecodingOptions, to consumer: any PixelRowConsumer) throws -> ImageDamage? {
        try options.forRows.check(damage)
        try send(
            to: options.chain(from: BoxReduction(from: header.size, towards: options.averagingTarget), to: consumer))
        return damage
    }

    private func send(to consumer: any PixelRowConsumer) throws {
        let rowHeader = rowHeader
        try consumer.begin(rowHeader)
        var row = [UInt8](repeating: 0, count: rowHeader.bytesPerRow)
        for y in 0..<header.size.height {
            try row.withUnsafeMutableBytes { row in
                writeRow(y, to: row)
                try consumer.consume(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(row)))
            }
        }
        try consumer.finish()
    }
}

extension BitmapHeader {
    /// Returns the maximum number of bytes that decoding holds: the result, a row or the rows of a reduction, and the
    /// beginnings of run-length rows. Saturates at `Int.max`.
    func decodingByteCount(_ options: DecodingOptions) -> Int {
        let reduction = BoxReduction(from: size, towards: options.averagingTarget)
        let format = Bitmap.format(of: self, options)
        guard let image = PixelBuffer.byteCount(size: reduction.size(of: size), format: format) else { return .max }
        let result = options.passesRows ? 0 : image
        // A reduction holds a row, its sums of 32 bytes for each cell, sums of columns and an output row. Rows that are
        // passed on are multiplied by alpha in a second one.
        let rowCount = options.passesRows && options.alphaMode == .premultiplied ? 2 : 1
        let rows = reduction.factor > 1 ? 64 * size.width : rowCount * format.bytesPerPixel * size.width
        let starts = compression == .runLengths ? RunLengths.byteCountPerRow * size.height : 0
        return result.addingClamped(rows + starts)
    }
}
