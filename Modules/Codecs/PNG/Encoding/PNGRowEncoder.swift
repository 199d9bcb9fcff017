import AlcedoCore
import CPNGShim
import FoundationEssentials

/// Encodes rows as they come. Memory is O(*w*): what is encoded goes to the output at once.
final class PNGRowEncoder: PixelRowConsumer {
    private let level: Int
    private let output: (RawSpan) throws -> Void
    private var writer: PNGWriter?
    private var rows: PNGRowSamples?

    init(level: Int, output: @escaping (RawSpan) throws -> Void) {
        self.level = level
        self.output = output
    }

    func begin(_ header: PixelRowHeader) throws {
        let writer = try PNGWriter(
            PNGRowSamples.settings(header, level: level), colorProfile: header.colorProfile,
            exif: header.orientation == .up ? [] : header.orientation.exif)
        try writer.take(output)
        self.writer = writer
        rows = PNGRowSamples(header)
    }

    func consume(_ row: RawSpan) throws {
        guard let writer else { return }
        let stride = row.byteCount
        if let converted = rows?.converted(row) {
            try writer.write(converted)
        } else {
            try row.withUnsafeBytes { try writer.write($0, stride: stride, rows: 1) }
        }
        try writer.take(output)
    }

    func finish() throws {
        try writer?.finish()
        try writer?.take(output)
        writer = nil
    }
}
