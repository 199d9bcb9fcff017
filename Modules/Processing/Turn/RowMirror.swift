import AlcedoCore

/// Exchanges left and right of arriving rows.
final class RowMirror: PixelRowConsumer {
    private let next: any PixelRowConsumer
    private var pixelBytes = 1
    private var width = 0
    private var mirrored: RowMemory?

    init(next: any PixelRowConsumer) { self.next = next }

    func begin(_ header: PixelRowHeader) throws {
        try PixelLimits.checkRows(of: header)
        pixelBytes = header.format.bytesPerPixel
        width = header.size.width
        mirrored = RowMemory(byteCount: header.bytesPerRow)
        try next.begin(header)
    }

    func consume(_ row: RawSpan) throws {
        guard let mirrored else { return }
        row.withUnsafeBytes { row in
            guard let base = row.baseAddress else { return }
            for x in 0..<width {
                (mirrored.base + x * pixelBytes).copyMemory(
                    from: base + (width - 1 - x) * pixelBytes, byteCount: pixelBytes)
            }
        }
        try next.consume(mirrored.buffer.bytes)
    }

    func finish() throws { try next.finish() }
}
