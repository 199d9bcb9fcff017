public import AlcedoCore

/// Turns pictures into text for a terminal. Pure: writes nothing and asks the terminal nothing.
public struct TerminalRenderer: Sendable {
    /// Characters of growing ink for terminals without colour; light on a dark screen.
    private static let ramp = Array(" .:-=+*#%@")

    /// The room for a picture, in character cells.
    package var canvas: TerminalCanvas
    /// Colours of character cells.
    package var depth: TerminalColorDepth
    /// How pixels reach the screen.
    package var graphics: TerminalGraphics
    /// What shows through transparent pixels. Default: black, the screen of most terminals.
    package var background: OpaqueColor

    /// A renderer for a canvas.
    ///
    /// - Parameters:
    ///   - canvas: The room for a picture.
    ///   - depth: Colours of character cells; pixels have all that their protocol can.
    ///   - graphics: Default: character cells.
    ///   - background: What shows through. Default: black.
    public init(
        canvas: TerminalCanvas, depth: TerminalColorDepth, graphics: TerminalGraphics = .blocks,
        background: OpaqueColor = .black
    ) {
        self.canvas = canvas
        self.depth = depth
        self.graphics = graphics
        self.background = background
    }

    /// The pixels that the canvas has. Use them as the target when decoding.
    public var pixelSize: PixelSize {
        let cell = graphics.cell ?? PixelSize(width: 1, height: 2)
        return PixelSize(width: canvas.columns * cell.width, height: canvas.rows * cell.height)
    }

    /// Returns the text that draws an image, upright, as large as fits on the canvas with its proportions kept, and never
    /// larger than it is.
    ///
    /// The text draws from the cursor on, which must be at the beginning of a line, and leaves the cursor at the beginning of
    /// the line below the image.
    ///
    /// - Parameter image: Any size; an image decoded at ``pixelSize`` saves the reducing here. Samples are taken as sRGB.
    /// - Returns: nil when the canvas shows nothing.
    /// - Complexity: O(*w* × *h*) of the image.
    public func text(for image: DecodedImage) -> String? { drawing(of: image)?.text }

    /// Returns the text that draws an image, and its size in cells.
    ///
    /// - Parameters:
    ///   - image: As for ``text(for:)``.
    ///   - id: A number of which the terminal keeps one image, where the protocol has such numbers (Kitty); nil: none.
    /// - Returns: nil when the canvas shows nothing.
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
        // Space first, so that nothing scrolls while the cursor is where the picture goes (CUU), and the cursor itself is
        // kept (DECSC, DECRC), because protocols and terminals differ in where they leave it.
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

    /// The picture, upright, in at most the canvas's rows and columns of character cells, without line ends.
    ///
    /// In colour a cell is an upper half block: its foreground is the upper pixel, its background the lower one. A code
    /// comes only where a colour changes, and each line ends with a reset. Below the last row of an odd height the
    /// terminal's own background shows. Without colour a cell is a character of a brightness scale for the mean of its
    /// two pixels. Samples are taken as sRGB, whatever the profile.
    ///
    /// - Parameter image: Any size; a picture decoded at the canvas's target size saves the reducing here.
    /// - Returns: No lines when the canvas shows nothing.
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

    /// The size that a picture has upright on a canvas of `pixels`; nil when there is nothing to see.
    private func fittedSize(of image: DecodedImage, in pixels: PixelSize) -> PixelSize? {
        let size = image.orientation.swapsSides ? image.size.transposed : image.size
        return size.isPositive && pixels.isPositive ? size.scaled(to: pixels, mode: .fit) : nil
    }

    private func fitted(_ image: DecodedImage, in pixels: PixelSize) -> PixelBuffer? {
        guard let target = fittedSize(of: image, in: pixels) else { return nil }
        let stored = image.orientation.swapsSides ? target.transposed : target
        return try? image.pixels.reduced(to: stored, over: background)?.upright(from: image.orientation)
    }

    private func line(upper: [OpaqueColor], lower: [OpaqueColor]?) -> String {
        guard depth != .none else { return Self.colorlessLine(upper: upper, lower: lower ?? upper) }
        let paint: (OpaqueColor) -> TerminalPaint =
            depth == .trueColor ? { .rgb($0) } : { TerminalPaint(nearest: $0) }
        var line = TerminalLine()
        for x in upper.indices { line.append(upper: paint(upper[x]), lower: lower.map { paint($0[x]) }) }
        return line.finished()
    }

    private static func colorlessLine(upper: [OpaqueColor], lower: [OpaqueColor]) -> String {
        String(zip(upper, lower).map { ramp[($0.luminance + $1.luminance) / 2 * ramp.count / 256] })
    }

    private static func colors(_ row: RawSpan) -> [OpaqueColor] {
        var colors: [OpaqueColor] = []
        for offset in stride(from: 0, to: row.byteCount, by: 4) {
            let pixel = row.unsafeLoad(fromByteOffset: offset, as: SIMD4<UInt8>.self)
            colors.append(OpaqueColor(red: pixel.x, green: pixel.y, blue: pixel.z))
        }
        return colors
    }
}

/// An image as text for a terminal.
package struct TerminalDrawing: Sendable, Equatable {
    /// The number of lines that the image covers.
    package var rows: Int
    /// The number of columns that it covers.
    package var columns: Int
    /// The text, as ``TerminalRenderer/text(for:)`` returns it.
    package var text: String
}

/// One line of half-block cells, with a code only where a colour changes.
private struct TerminalLine {
    private var text = ""
    private var foreground: TerminalPaint?
    private var background: TerminalPaint?

    /// Adds a cell.
    ///
    /// - Parameter lower: nil leaves the lower half in the terminal's own background.
    mutating func append(upper: TerminalPaint, lower: TerminalPaint?) {
        var parameters: [String] = []
        if foreground != upper { parameters.append(upper.parameters(isForeground: true)) }
        if let lower, background != lower { parameters.append(lower.parameters(isForeground: false)) }
        foreground = upper
        background = lower
        if !parameters.isEmpty { text += "\u{1B}[\(parameters.joined(separator: ";"))m" }
        text += "▀"
    }

    /// The line, ending with a reset so that no colour runs on.
    func finished() -> String { text + "\u{1B}[0m" }
}

/// A colour as a terminal is told it. Two paints are equal when no code is needed between them.
enum TerminalPaint: Equatable, Sendable {
    case rgb(OpaqueColor)
    /// A place in the palette of 256.
    case indexed(UInt8)

    /// The nearest palette colour: of the 6 × 6 × 6 cube from 16 on, or of the 24 grays from 232 on. The first 16 are
    /// left out, because users set them as they like. Source: xterm's `256colres.pl`.
    init(nearest color: OpaqueColor) {
        let samples = [Int(color.red), Int(color.green), Int(color.blue)]
        let steps = samples.map { $0 < 48 ? 0 : $0 < 115 ? 1 : ($0 - 35) / 40 }
        let cubeError = zip(samples, steps).reduce(0) { $0 + Self.squared($1.0 - ($1.1 == 0 ? 0 : $1.1 * 40 + 55)) }
        let gray = min(max(0, samples.reduce(0, +) - 9) / 30, 23)
        let grayError = samples.reduce(0) { $0 + Self.squared($1 - (8 + gray * 10)) }
        self = .indexed(
            UInt8(grayError < cubeError ? 232 + gray : 16 + steps[0] * 36 + steps[1] * 6 + steps[2]))
    }

    /// Parameters of an SGR sequence. Source: ISO/IEC 8613-6, section 13.1.8, with the semicolons that xterm takes.
    func parameters(isForeground: Bool) -> String {
        let layer = isForeground ? 38 : 48
        return switch self {
        case .rgb(let color): "\(layer);2;\(color.red);\(color.green);\(color.blue)"
        case .indexed(let index): "\(layer);5;\(index)"
        }
    }

    private static func squared(_ value: Int) -> Int { value * value }
}

extension OpaqueColor {
    /// From 0 to 255, weighted as the eye sees. Source: ITU-R BT.709-6, item 3.2.
    fileprivate var luminance: Int { (Int(red) * 2126 + Int(green) * 7152 + Int(blue) * 722 + 5000) / 10_000 }
}
