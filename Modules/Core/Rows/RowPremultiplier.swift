/// Multiplies the colour of straight rows by alpha and hands them on. Memory: one row.
final class RowPremultiplier: PixelRowConsumer {
    private let next: any PixelRowConsumer
    private var format = PixelFormat.rgba8
    private var isNeeded = false
    private var output: [UInt8] = []

    init(next: any PixelRowConsumer) { self.next = next }

    func begin(_ header: PixelRowHeader) throws {
        var header = header
        isNeeded = header.alphaMode == .straight
        format = header.format
        if isNeeded {
            header.alphaMode = .premultiplied
            output = Array(repeating: 0, count: header.bytesPerRow)
        }
        try next.begin(header)
    }

    func consume(_ row: RawSpan) throws {
        guard isNeeded else { return try next.consume(row) }
        try output.withUnsafeMutableBytes { output in
            row.withUnsafeBytes { output.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0.prefix(output.count))) }
            AlphaArithmetic.premultiply(output, format)
            try next.consume(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(output)))
        }
    }

    func finish() throws { try next.finish() }
}
