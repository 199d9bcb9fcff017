import AlcedoLibc

/// The terminal cells that an image may fill. Without a graphics protocol, a cell shows two pixels, one above the
/// other, because it is about twice as high as wide.
public struct TerminalCanvas: Sendable, Hashable {
    /// The maximum number of columns and of rows.
    package static let maximumSide = 32_767

    /// The number of columns, from 0 to 32,767.
    public let columns: Int
    /// The number of rows, from 0 to 32,767.
    public let rows: Int

    /// Creates a canvas. Each value is clamped to the range from 0 to 32,767. A canvas with a zero side shows nothing.
    public init(columns: Int, rows: Int) {
        self.columns = min(max(0, columns), Self.maximumSide)
        self.rows = min(max(0, rows), Self.maximumSide)
    }
}

extension TerminalCanvas {
    /// Creates a canvas that covers the terminal of a file descriptor.
    ///
    /// - Returns: nil if the file descriptor does not refer to a terminal, or the terminal does not report its size.
    public init?(fileDescriptor: Int32) {
        var size = winsize()
        guard ioctl(fileDescriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return nil }
        self.init(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }
}
