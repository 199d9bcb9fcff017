package import AlcedoCore
import AlcedoLibc

/// The cells of a terminal that a picture may fill. A cell shows two pixels, one above the other, because it is about
/// twice as high as it is wide.
public struct TerminalCanvas: Sendable, Hashable {
    /// The maximum number of columns and of rows.
    package static let maximumSide = 32_767

    /// The number of columns, from 0 to 32,767.
    public let columns: Int
    /// The number of rows, from 0 to 32,767.
    public let rows: Int

    /// Creates a canvas. Numbers below 0 count as 0, a canvas that shows nothing, and larger numbers as 32,767.
    public init(columns: Int, rows: Int) {
        self.columns = min(max(0, columns), Self.maximumSide)
        self.rows = min(max(0, rows), Self.maximumSide)
    }

    /// The size in pixels that a picture of `size` has on the canvas: as large as fits with its proportions kept, and
    /// never larger than it is, because enlarging shows nothing more and blurs icons.
    ///
    /// Use it as the target when decoding. It is the same for every colour depth.
    ///
    /// - Returns: Nought by nought when the canvas or the picture has no pixels.
    package func targetSize(for size: PixelSize) -> PixelSize {
        let pixels = PixelSize(width: columns, height: rows * 2)
        guard size.isPositive, pixels.isPositive else { return PixelSize(width: 0, height: 0) }
        return size.scaled(to: pixels, mode: .fit)
    }
}

extension TerminalCanvas {
    /// The whole of the terminal that `fileDescriptor` is open on.
    ///
    /// - Returns: nil when it is not a terminal, or one that does not know its size.
    public init?(fileDescriptor: Int32) {
        var size = winsize()
        guard ioctl(fileDescriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return nil }
        self.init(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }
}
