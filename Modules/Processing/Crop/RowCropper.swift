import AlcedoCore

/// Hands on the part of the arriving rows that a crop keeps.
final class RowCropper: PixelRowConsumer {
    private let part: (PixelSize) throws(ImageProcessingError) -> PixelRect
    private let next: any PixelRowConsumer
    private var rows = 0..<0
    private var bytes = 0..<0
    private var y = 0

    /// - Parameter part: Which part of a picture of this size is kept.
    init(_ part: @escaping (PixelSize) throws(ImageProcessingError) -> PixelRect, next: any PixelRowConsumer) {
        self.part = part
        self.next = next
    }

    func begin(_ header: PixelRowHeader) throws {
        let part = try part(header.size)
        try PixelLimits.checkRows(of: header)
        let pixelBytes = header.format.bytesPerPixel
        rows = part.y..<part.y + part.size.height
        bytes = part.x * pixelBytes..<(part.x + part.size.width) * pixelBytes
        y = 0
        var cropped = header
        cropped.size = part.size
        try next.begin(cropped)
    }

    func consume(_ row: RawSpan) throws {
        defer { y += 1 }
        guard rows.contains(y) else { return }
        try next.consume(row.extracting(bytes))
    }

    func finish() throws { try next.finish() }
}
