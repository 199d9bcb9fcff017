public import AlcedoCore

/// The conversion of images to terminal text: half blocks, the Kitty protocol or Sixel. It performs no output and does
/// not query the terminal.
///
/// ```swift
/// let renderer = TerminalRenderer(canvas: TerminalCanvas(columns: 80, rows: 24), depth: .trueColor)
/// if let text = renderer.text(for: image) { print(text, terminator: "") }
/// ```
public struct TerminalRenderer: Sendable {
    /// Characters of increasing brightness for terminals without color, for a dark background.
    private static let ramp = Array(" .:-=+*#%@")

    /// The canvas, in character cells.
    public var canvas: TerminalCanvas
    /// The color depth of character cells.
    public var depth: TerminalColorDepth
    /// The graphics protocol.
    public var graphics: TerminalGraphics
    /// The color behind transparent pixels. Its alpha is ignored. Default: black, the background of most terminals.
    public var background: PixelColor

    /// Creates a renderer for a canvas.
    ///
    /// - Parameters:
    ///   - canvas: The cells that an image may fill.
    ///   - depth: The color depth of character cells. Graphics protocols always use all of their colors.
    ///   - graphics: The graphics protocol. Default: character cells.
    ///   - background: The color behind transparent pixels. Its alpha is ignored. Default: black.
    public init(
        canvas: TerminalCanvas, depth: TerminalColorDepth, graphics: TerminalGraphics = .blocks,
        background: PixelColor = .black
    ) {
        self.canvas = canvas
        self.depth = depth
        self.graphics = graphics
        self.background = background
    }

    /// The size of the canvas in pixels. Use it as the target size for decoding.
    public var pixelSize: PixelSize {
        let cell = graphics.cell ?? PixelSize(width: 1, height: 2)
        return PixelSize(width: canvas.columns * cell.width, height: canvas.rows * cell.height)
    }

    /// Returns the text that draws an image upright, at the largest size that fits the canvas with the aspect ratio
    /// preserved. An image is never enlarged.
    ///
    /// The text starts at the cursor, which must be at the beginning of a line. It leaves the cursor at the beginning
    /// of the line below the image. A graphics protocol requires a canvas with fewer rows than the terminal for this.
    ///
    /// - Parameter image: An image of any size. An image decoded at ``pixelSize`` does not have to be reduced here.
    ///   Samples are interpreted as sRGB.
    /// - Returns: The text; nil if the canvas shows nothing or there is no memory for the reduced image.
    /// - Complexity: O(*w* × *h*) of the image.
    public func text(for image: DecodedImage) -> String? { drawing(of: image)?.text }

    /// Returns the text that draws an image, and its size in cells.
    ///
    /// - Parameters:
    ///   - image: The image, as for ``text(for:)``.
    ///   - id: The number under which the terminal stores the image, if the protocol supports numbers (Kitty). Default:
    ///     nil, for no number.
    /// - Returns: The text and its size; nil if the canvas shows nothing or there is no memory for the reduced image.
    package func drawing(of image: DecodedImage, id: UInt32? = nil) -> TerminalDrawing? {
        guard let cell = graphics.cell else {
            let lines = lines(for: image)
            guard let pixels = lines.isEmpty ? nil : fittedSize(of: image, in: cellPixels) else { return nil }
            return TerminalDrawing(
                rows: lines.count, columns: pixels.width, text: lines.map { $0 + "\n" }.joined())
        }
        guard let pixels = fitted(image, in: pixelSize) else { return nil }
        let rows = (pixels.height + cell.height - 1) / cell.height
        let columns = (pixels.width + cell.width - 1) / cell.width
        // The text first scrolls to make space and moves back up (CUU), so that nothing scrolls while the image is
        // drawn. It saves and restores the cursor (DECSC, DECRC), because protocols and terminals leave it at different
        // positions.
        let space = String(repeating: "\n", count: rows) + "\u{1B}[\(rows)A"
        let content: String
        switch graphics {
        case .kitty: content = KittyText.show(pixels, id: id)
        case .sixel: content = SixelText.show(SixelImage(pixels))
        case .blocks: content = ""
        }
        return TerminalDrawing(
            rows: rows, columns: columns, text: "\(space)\u{1B}7\(content)\u{1B}8\u{1B}[\(rows)B")
    }

    /// Returns the upright image in character cells, as one string for each row that the image fills. The strings
    /// contain no line ends.
    ///
    /// In color, each cell is an upper half block: the foreground is the upper pixel, and the background is the lower
    /// pixel. An escape code is written only where a color changes, and each line ends with a reset. If the height is
    /// odd, the terminal's own background shows below the last pixels. Without color, each cell is a character of a
    /// brightness scale for the mean of its two pixels. Samples are interpreted as sRGB, regardless of the profile.
    ///
    /// - Parameter image: An image of any size. An image decoded with one pixel per column and two pixels per row of
    ///   the canvas does not have to be reduced here.
    /// - Returns: The lines; an empty array if the canvas shows nothing or there is no memory for the reduced image.
    /// - Complexity: O(*w* × *h*) of the image.
    package func lines(for image: DecodedImage) -> [String] {
        guard let pixels = fitted(image, in: cellPixels) else { return [] }
        return stride(from: 0, to: pixels.height, by: 2).map { y in
            let upper = Self.colors(pixels.row(y))
            let lower = y + 1 < pixels.height ? Self.colors(pixels.row(y + 1)) : nil
            return line(upper: upper, lower: lower)
        }
    }

    private var cellPixels: PixelSize { PixelSize(width: canvas.columns, height: canvas.rows * 2) }

    /// Returns the upright size of an image on a canvas of `pixels`; nil if either has no pixels.
    private func fittedSize(of image: DecodedImage, in pixels: PixelSize) -> PixelSize? {
        let size = image.orientation.swapsSides ? image.size.transposed : image.size
        return size.isPositive && pixels.isPositive ? size.scaled(to: pixels, mode: .fit) : nil
    }

    private func fitted(_ image: DecodedImage, in pixels: PixelSize) -> PixelBuffer? {
        guard let target = fittedSize(of: image, in: pixels) else { return nil }
        let stored = image.orientation.swapsSides ? target.transposed : target
        return try? image.pixels.reduced(to: stored, over: background)?.upright(from: image.orientation)
    }

    private func line(upper: [PixelColor], lower: [PixelColor]?) -> String {
        guard depth != .none else { return Self.colorlessLine(upper: upper, lower: lower ?? upper) }
        let paint: (PixelColor) -> TerminalPaint =
            depth == .trueColor ? { .rgb($0) } : { TerminalPaint(nearest: $0) }
        var line = TerminalLine()
        for x in upper.indices { line.append(upper: paint(upper[x]), lower: lower.map { paint($0[x]) }) }
        return line.finished()
    }

    private static func colorlessLine(upper: [PixelColor], lower: [PixelColor]) -> String {
        String(zip(upper, lower).map { ramp[($0.luminance + $1.luminance) / 2 * ramp.count / 256] })
    }

    private static func colors(_ row: RawSpan) -> [PixelColor] {
        var colors: [PixelColor] = []
        for offset in stride(from: 0, to: row.byteCount, by: 4) {
            let pixel = row.unsafeLoad(fromByteOffset: offset, as: SIMD4<UInt8>.self)
            colors.append(PixelColor(red: pixel.x, green: pixel.y, blue: pixel.z))
        }
        return colors
    }
}

/// An image as text for a terminal.
package struct TerminalDrawing: Sendable, Equatable {
    /// The number of lines that the image covers.
    package var rows: Int
    /// The number of columns that the image covers.
    package var columns: Int
    /// The text, as returned by ``TerminalRenderer/text(for:)``.
    package var text: String
}

/// A line of half-block cells, with escape codes only where a color changes.
private struct TerminalLine {
    private var text = ""
    private var foreground: TerminalPaint?
    private var background: TerminalPaint?

    /// Adds a cell.
    ///
    /// - Parameters:
    ///   - upper: The color of the upper half.
    ///   - lower: The color of the lower half; nil for the terminal's own background.
    mutating func append(upper: TerminalPaint, lower: TerminalPaint?) {
        var parameters: [String] = []
        if foreground != upper { parameters.append(upper.parameters(isForeground: true)) }
        if let lower, background != lower { parameters.append(lower.parameters(isForeground: false)) }
        foreground = upper
        background = lower
        if !parameters.isEmpty { text += "\u{1B}[\(parameters.joined(separator: ";"))m" }
        text += "▀"
    }

    /// Returns the line, followed by a reset so that colors do not extend beyond it.
    func finished() -> String { text + "\u{1B}[0m" }
}

/// A color in a terminal's encoding. If two paints are equal, no escape code is needed between them.
enum TerminalPaint: Equatable, Sendable {
    case rgb(PixelColor)
    /// An index into the 256-color palette.
    case indexed(UInt8)

    /// Creates the nearest palette color from the 6 × 6 × 6 cube (from index 16) or the 24 grays (from index 232). The
    /// first 16 colors are not used, because users can configure them.
    ///
    /// Source: xterm's `256colres.pl`.
    init(nearest color: PixelColor) {
        let samples = [Int(color.red), Int(color.green), Int(color.blue)]
        let steps = samples.map { $0 < 48 ? 0 : $0 < 115 ? 1 : ($0 - 35) / 40 }
        let cubeError = zip(samples, steps).reduce(0) { $0 + Self.squared($1.0 - ($1.1 == 0 ? 0 : $1.1 * 40 + 55)) }
        let gray = min(max(0, samples.reduce(0, +) - 9) / 30, 23)
        let grayError = samples.reduce(0) { $0 + Self.squared($1 - (8 + gray * 10)) }
        self = .indexed(
            UInt8(grayError < cubeError ? 232 + gray : 16 + steps[0] * 36 + steps[1] * 6 + steps[2]))
    }

    /// Returns the parameters of an SGR sequence.
    ///
    /// Source: ISO/IEC 8613-6, section 13.1.8, with the semicolons that xterm accepts.
    func parameters(isForeground: Bool) -> String {
        let layer = isForeground ? 38 : 48
        return switch self {
        case .rgb(let color): "\(layer);2;\(color.red);\(color.green);\(color.blue)"
        case .indexed(let index): "\(layer);5;\(index)"
        }
    }

    private static func squared(_ value: Int) -> Int { value * value }
}

extension PixelColor {
    /// The luma from 0 to 255, weighted by human perception.
    ///
    /// Source: ITU-R BT.709-6, item 3.2.
    fileprivate var luminance: Int { (Int(red) * 2126 + Int(green) * 7152 + Int(blue) * 722 + 5000) / 10_000 }
}
