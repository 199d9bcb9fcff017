import FoundationEssentials

/// Encodes rows by an encoder that needs the whole picture: collects it first.
final class WholeImageEncoder: PixelRowConsumer {
    private let encode: (DecodedImage) throws(ImageEncodingError) -> Data
    private let output: (RawSpan) throws -> Void
    private let collector = PixelRowCollector()

    init(
        encode: @escaping (DecodedImage) throws(ImageEncodingError) -> Data, output: @escaping (RawSpan) throws -> Void
    ) {
        self.encode = encode
        self.output = output
    }

    func begin(_ header: PixelRowHeader) throws { try collector.begin(header) }

    func consume(_ row: RawSpan) throws { try collector.consume(row) }

    func finish() throws {
        try collector.finish()
        guard let image = collector.image else { return }
        let data = try encode(image)
        try data.withUnsafeBytes { try output($0.bytes) }
    }
}
