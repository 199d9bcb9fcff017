import AlcedoCore
import AlcedoLibc
import AlcedoTerminal
import Testing

@Suite struct TerminalCanvasTests {
    @Test(arguments: [
        // Limited by the width, by the height (two pixels per row), and by neither.
        (PixelSize(width: 800, height: 200), 80, 10), (PixelSize(width: 480, height: 480), 48, 24),
        (PixelSize(width: 16, height: 16), 16, 8), (PixelSize(width: 80, height: 48), 80, 24),
        (PixelSize(width: 100_000, height: 1), 80, 1), (PixelSize(width: 1, height: 100_000), 1, 24),
    ])
    func `a drawing fills the canvas and keeps proportions`(size: PixelSize, columns: Int, rows: Int) throws {
        let pixels = try #require(PixelBuffer(size: size, format: .gray8, alphaMode: .opaque))
        let renderer = TerminalRenderer(canvas: TerminalCanvas(columns: 80, rows: 24), depth: .none)

        let drawing = try #require(renderer.drawing(of: DecodedImage(pixels: pixels)))

        #expect(drawing.columns == columns)
        #expect(drawing.rows == rows)
    }

    @Test func `the sides of a canvas are clamped`() throws {
        let canvas = TerminalCanvas(columns: -1, rows: .max)

        #expect(canvas.columns == 0)
        #expect(canvas.rows == TerminalCanvas.maximumSide)
        let size = PixelSize(width: 5, height: 5)
        let pixels = try #require(PixelBuffer(size: size, format: .gray8, alphaMode: .opaque))
        #expect(TerminalRenderer(canvas: canvas, depth: .none).text(for: DecodedImage(pixels: pixels)) == nil)
    }

    @Test func `a terminal reports its size`() throws {
        let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        try #require(terminal >= 0)
        defer { close(terminal) }
        #expect(TerminalCanvas(fileDescriptor: terminal) == nil, "a new terminal has no size yet")
        var size = winsize(ws_row: 30, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0)
        try #require(ioctl(terminal, UInt(TIOCSWINSZ), &size) == 0)

        #expect(TerminalCanvas(fileDescriptor: terminal) == TerminalCanvas(columns: 100, rows: 30))
    }

    @Test func `a file that is not a terminal has no canvas`() throws {
        let file = open("/dev/null", O_RDONLY)
        try #require(file >= 0)
        defer { close(file) }

        #expect(TerminalCanvas(fileDescriptor: file) == nil)
        #expect(TerminalCanvas(fileDescriptor: -1) == nil)
    }
}
