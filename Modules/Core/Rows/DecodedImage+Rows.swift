extension DecodedImage {
    /// What a stream of this picture's rows begins with.
    public var rowHeader: PixelRowHeader {
        PixelRowHeader(
            size: size, format: pixels.format, alphaMode: pixels.alphaMode, colorProfile: colorProfile,
            orientation: orientation)
    }

    /// Hands all rows to `consumer`, from its beginning to its end. Throws what the consumer throws.
    public func sendRows(to consumer: any PixelRowConsumer) throws {
        try consumer.begin(rowHeader)
        for y in 0..<pixels.height { try consumer.consume(pixels.row(y)) }
        try consumer.finish()
    }
}
