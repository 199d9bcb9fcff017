/// A processor that needs the whole picture, in a chain of row consumers.
final class WholePictureStage: PixelRowConsumer {
    private let processor: any ImageProcessing
    private let next: any PixelRowConsumer
    private let collector = PixelRowCollector()

    init(_ processor: any ImageProcessing, next: any PixelRowConsumer) {
        self.processor = processor
        self.next = next
    }

    func begin(_ header: PixelRowHeader) throws { try collector.begin(header) }

    func consume(_ row: RawSpan) throws { try collector.consume(row) }

    func finish() throws {
        try collector.finish()
        guard let image = collector.image else { return }
        try processor.process(image).sendRows(to: next)
    }
}
