/// A processor that needs the whole picture, in a chain of row consumers.
package final class WholePictureStage: PixelRowConsumer {
    private let process: (DecodedImage) throws -> DecodedImage
    private let next: any PixelRowConsumer
    private let collector = PixelRowCollector()

    /// - Parameter process: What the processor does.
    package init(next: any PixelRowConsumer, _ process: @escaping (DecodedImage) throws -> DecodedImage) {
        self.process = process
        self.next = next
    }

    package func begin(_ header: PixelRowHeader) throws { try collector.begin(header) }

    package func consume(_ row: RawSpan) throws { try collector.consume(row) }

    package func finish() throws {
        try collector.finish()
        guard let image = collector.image else { return }
        try process(image).sendRows(to: next)
    }
}
