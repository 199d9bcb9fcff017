public import AlcedoCore

/// Turns pictures into lines of text for a terminal. Pure: writes nothing and asks the terminal nothing.
public struct TerminalRenderer: Sendable {
    /// Characters of growing ink for terminals without colour; light on a dark screen.
    private static let ramp = Array(" .:-=+*#%@")

    public var canvas: TerminalCanvas
    public var depth: TerminalColorDepth
    /// What shows through transparent pixels. Default: black, the screen of most terminals.
    public var background: TerminalColor

    public init(canvas: TerminalCanvas, depth: TerminalColorDepth, background: TerminalColor = .black) {
        self.canvas = canvas
        self.depth = depth
        self.background = background
    }

    /// The picture, upright, in at most the canvas's rows and columns, without line ends.
    ///
    /// In colour a cell is an upper half block: its foreground is the upper pixel, its background the lower one. A code
    /// comes only where a colour changes, and each line ends with a reset. Below the last row of an odd height the
    /// terminal's own background shows. Without colour a cell is a character of a brightness scale for the mean of its
    /// two pixels. Samples are taken as sRGB, whatever the profile.
    ///
    /// - Parameter image: Any size; a picture decoded at the canvas's target size saves the reducing here.
    /// - Returns: No lines when the canvas shows nothing.
    /// - Complexity: O(*w* × *h*) of the image.
    public func lines(for image: DecodedImage) -> [String] {
        let isTurned = image.orientation.swapsSides
        let target = canvas.targetSize(for: isTurned ? image.size.transposed : image.size)
        let stored = isTurned ? target.transposed : target
        guard target.isPositive, let reduced = image.pixels.reduced(to: stored, over: background) else { return [] }
        let pixels = reduced.upright(from: image.orientation)
        return stride(from: 0, to: pixels.height, by: 2).map { y in
            let upper = Self.colors(pixels.row(y))
            let lower = y + 1 < pixels.height ? Self.colors(pixels.row(y + 1)) : nil
            return line(upper: upper, lower: lower)
        }
    }

    private func line(upper: [TerminalColor], lower: [TerminalColor]?) -> String {
        guard depth != .none else { return Self.colorlessLine(upper: upper, lower: lower ?? upper) }
        let paint: (TerminalColor) -> TerminalPaint =
            depth == .trueColor ? { .rgb($0) } : { TerminalPaint(nearest: $0) }
        var line = TerminalLine()
        for x in upper.indices { line.append(upper: paint(upper[x]), lower: lower.map { paint($0[x]) }) }
        return line.finished()
    }

    private static func colorlessLine(upper: [TerminalColor], lower: [TerminalColor]) -> String {
        String(zip(upper, lower).map { ramp[($0.luminance + $1.luminance) / 2 * ramp.count / 256] })
    }

    private static func colors(_ row: RawSpan) -> [TerminalColor] {
        var colors: [TerminalColor] = []
        for offset in stride(from: 0, to: row.byteCount, by: 4) {
            let pixel = row.unsafeLoad(fromByteOffset: offset, as: SIMD4<UInt8>.self)
            colors.append(TerminalColor(red: pixel.x, green: pixel.y, blue: pixel.z))
        }
        return colors
    }
}
