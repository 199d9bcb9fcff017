import AlcedoCore

/// Does a point processor's work while rows arrive.
final class PointRows: PixelRowConsumer {
    private let makeWork: (PixelRowHeader) throws(ImageProcessingError) -> PointWork?
    private let next: any PixelRowConsumer
    /// nil when rows pass as they are.
    private var work: PointWork?
    private var result: RowMemory?
    private var y = 0

    /// - Parameter work: The work on pictures of this kind; nil when they stay as they are.
    init(
        _ work: @escaping (PixelRowHeader) throws(ImageProcessingError) -> PointWork?, next: any PixelRowConsumer
    ) {
        makeWork = work
        self.next = next
    }

    func begin(_ header: PixelRowHeader) throws {
        try PixelLimits.checkRows(of: header)
        var changed = header
        work = try makeWork(header)
        if let work {
            changed.format = work.format
            changed.alphaMode = work.alphaMode
            result = RowMemory(byteCount: changed.bytesPerRow)
        }
        y = 0
        try next.begin(changed)
    }

    func consume(_ row: RawSpan) throws {
        guard let work, let result else { return try next.consume(row) }
        row.withUnsafeBytes { row in
            guard let base = row.baseAddress else { return }
            work.change(base, y, result.base)
        }
        y += 1
        try next.consume(result.buffer.bytes)
    }

    func finish() throws { try next.finish() }
}
