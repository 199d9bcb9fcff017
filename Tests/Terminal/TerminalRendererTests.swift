import AlcedoCore
import AlcedoTerminal
import Testing

@Suite struct TerminalRendererTests {
    private let fourColors = DecodedImage(pixels: .samples(red + green + blue + white, width: 2))

    private func lines(
        _ image: DecodedImage, _ depth: TerminalColorDepth, columns: Int = 80, rows: Int = 24,
        background: PixelColor = .black
    ) -> [String] {
        let canvas = TerminalCanvas(columns: columns, rows: rows)
        return TerminalRenderer(canvas: canvas, depth: depth, background: background).lines(for: image)
    }

    private func lines(_ pixels: PixelBuffer, _ depth: TerminalColorDepth) -> [String] {
        lines(DecodedImage(pixels: pixels), depth)
    }

    @Test func `true color is an upper half block of the two pixels`() {
        #expect(
            lines(fourColors, .trueColor) == [
                "\u{1B}[38;2;255;0;0;48;2;0;0;255m▀\u{1B}[38;2;0;255;0;48;2;255;255;255m▀\u{1B}[0m"
            ])
    }

    @Test func `256 colors are palette indices`() {
        #expect(lines(fourColors, .ansi256) == ["\u{1B}[38;5;196;48;5;21m▀\u{1B}[38;5;46;48;5;231m▀\u{1B}[0m"])
    }

    @Test func `without color brightness selects a character, and no escape code is written`() {
        let ramp = PixelBuffer.grays([0, 26, 52, 77, 103, 128, 154, 180, 205, 255], width: 10)

        #expect(lines(ramp, .none) == [" .:-=+*#%@"])
        // Red and blue together are dark, green and white light: the mean of each column's luminances.
        #expect(lines(fourColors, .none) == [".%"])
    }

    @Test func `an escape code is written only when a color changes`() {
        let twoBars = PixelBuffer.samples(red + red + green + blue + blue + blue, width: 3)

        #expect(
            lines(twoBars, .trueColor) == [
                "\u{1B}[38;2;255;0;0;48;2;0;0;255m▀▀\u{1B}[38;2;0;255;0m▀\u{1B}[0m"
            ])
    }

    @Test func `colors with one palette index need no new escape code`() {
        let almostRed: [UInt8] = [250, 2, 1, 255]

        #expect(lines(.samples(red + almostRed, width: 2), .ansi256) == ["\u{1B}[38;5;196m▀▀\u{1B}[0m"])
    }

    @Test func `the last row of an odd height has no lower color`() {
        let column = PixelBuffer.samples(red + green + blue, width: 1)

        #expect(
            lines(column, .trueColor) == [
                "\u{1B}[38;2;255;0;0;48;2;0;255;0m▀\u{1B}[0m", "\u{1B}[38;2;0;0;255m▀\u{1B}[0m",
            ])
    }

    @Test func `an image of one pixel is drawn as one cell`() {
        #expect(lines(.grays([255], width: 1), .trueColor) == ["\u{1B}[38;2;255;255;255m▀\u{1B}[0m"])
        #expect(lines(.grays([255], width: 1), .none) == ["@"])
    }

    @Test(arguments: TerminalColorDepth.allCases, [(0, 0), (0, 24), (80, 0), (-3, 5)])
    func `a canvas without cells shows nothing`(depth: TerminalColorDepth, cells: (Int, Int)) {
        #expect(lines(fourColors, depth, columns: cells.0, rows: cells.1).isEmpty)
    }

    @Test(arguments: TerminalColorDepth.allCases)
    func `a large image is reduced to the canvas`(depth: TerminalColorDepth) {
        let large = DecodedImage(pixels: .grays([UInt8](repeating: 255, count: 200 * 100), width: 200))

        let lines = lines(large, depth, columns: 20, rows: 20)

        #expect(lines.count == 5)
        #expect(lines.allSatisfy { $0.count { $0 == "▀" || $0 == "@" } == 20 })
    }

    @Test func `transparent pixels show the background`() {
        let clear = DecodedImage(
            pixels: .samples([255, 0, 0, 0, 255, 0, 0, 128], width: 1, format: .rgba8, alphaMode: .straight))

        #expect(lines(clear, .trueColor) == ["\u{1B}[38;2;0;0;0;48;2;128;0;0m▀\u{1B}[0m"])
        #expect(
            lines(clear, .trueColor, background: .white)
                == ["\u{1B}[38;2;255;255;255;48;2;255;127;127m▀\u{1B}[0m"])
    }

    @Test func `a rotated image is shown upright`() {
        // Two pixels in a row that belong one above the other, with the left one on top.
        let stored = DecodedImage(pixels: .samples(red + blue, width: 2), orientation: .right)

        #expect(lines(stored, .trueColor) == ["\u{1B}[38;2;255;0;0;48;2;0;0;255m▀\u{1B}[0m"])
    }

    @Test func `a rotated image is fitted by its upright size`() {
        let samples = [UInt8](repeating: 255, count: 100 * 10)
        let stored = DecodedImage(pixels: .grays(samples, width: 100), orientation: .left)

        let lines = lines(stored, .none, columns: 80, rows: 10)

        #expect(lines == [String](repeating: "@@", count: 10))
    }
}
