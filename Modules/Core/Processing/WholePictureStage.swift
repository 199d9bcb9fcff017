/// A processor that needs the whole picture, in a chain of row consumers.
package final class WholePictureStage: PixelRowConsumer {
    private let processor: any ImageProcessing
    private let next: any PixelRowConsumer
    private let collector = PixelRowCollector()

    package init(_ processor: any ImageProcessing, next: any PixelRowConsumer) {
        self.processor = processor
        self.next = next
    }

    package func begin(_ header: PixelRowHeader) throws { try collector.begin(header) }

    package func consume(_ row: RawSpan) throws { try collector.consume(row) }

    package func finish() throws {
        try collector.finish()
        guard let image = collector.image else { return }
        try processor.process(image).sendRows(to: next)
    }
}
