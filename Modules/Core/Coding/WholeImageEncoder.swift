import FoundationEssentials

/// Encodes rows by an encoder that needs the whole picture: collects it first.
final class WholeImageEncoder<Encoder: ImageEncoding>: PixelRowConsumer {
    private let encoder: Encoder
    private let output: (RawSpan) throws -> Void
    private let collector = PixelRowCollector()

    init(_ encoder: Encoder, output: @escaping (RawSpan) throws -> Void) {
        self.encoder = encoder
        self.output = output
    }

    func begin(_ header: PixelRowHeader) throws { try collector.begin(header) }

    func consume(_ row: RawSpan) throws { try collector.consume(row) }

    func finish() throws {
        try collector.finish()
        guard let image = collector.image else { return }
        let data = try encoder.encode(image)
        try output(data.bytes)
    }
}
