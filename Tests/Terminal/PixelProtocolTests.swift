import AlcedoCore
import AlcedoTerminal
import AlcedoTesting
import Foundation
import Testing

/// The output of the pixel protocols, decoded again.
@Suite struct PixelProtocolTests {
    private static let cell = PixelSize(width: 10, height: 20)

    private func drawing(
        _ image: DecodedImage, _ graphics: TerminalGraphics, columns: Int = 80, rows: Int = 24
    ) throws -> TerminalDrawing {
        let canvas = TerminalCanvas(columns: columns, rows: rows)
        return try #require(TerminalRenderer(canvas: canvas, depth: .none, graphics: graphics).drawing(of: image))
    }

    /// Few colors, in shapes with runs, gaps and partial bands.
    private func flags(_ width: Int, _ height: Int) -> DecodedImage {
        let colors = [red, green, blue, white, [12, 34, 56, 255]]
        let samples = (0..<width * height).flatMap { (index: Int) -> [UInt8] in
            let (y, x) = index.quotientAndRemainder(dividingBy: width)
            return colors[(x / 7 + y / 4) % colors.count]
        }
        return DecodedImage(pixels: .samples(samples, width: width))
    }

    @Test(arguments: [(1, 1), (3, 6), (50, 5), (50, 7), (33, 40)])
    func `Sixel has every pixel of an image with few colors`(width: Int, height: Int) throws {
        let image = flags(width, height)

        let read = try #require(SixelReader(try drawing(image, .sixel(cell: Self.cell)).text))

        #expect(read.width == width)
        #expect(read.height == height)
        let percents = image.pixels.colors.map { $0.map { (Int($0) * 100 + 127) / 255 } }
        #expect(read.pixels == percents)
    }

    @Test func `Sixel dithers an image with many colors`() throws {
        let image = DecodedImage.coordinates(PixelSize(width: 256, height: 240))

        let read = try #require(SixelReader(try drawing(image, .sixel(cell: Self.cell)).text))

        // The mean of each 8 x 8 pixels equals that of the image.
        for top in stride(from: 0, to: 240, by: 8) {
            for left in stride(from: 0, to: 256, by: 8) {
                var sum = [0, 0, 0]
                for y in top..<top + 8 {
                    for x in left..<left + 8 {
                        let pixel = try #require(read.pixels[y * 256 + x])
                        for sample in 0..<3 { sum[sample] += pixel[sample] }
                    }
                }
                let mean = sum.map { Double($0) / 64 * 2.55 }
                // A 64th of a step of the palette, half of the difference between neighbors, and rounding to percent.
                #expect(abs(mean[0] - (Double(left) + 3.5)) < 4)
                #expect(abs(mean[1] - (Double(top) + 3.5)) < 4)
                #expect(abs(mean[2] - 128) < 4)
            }
        }
    }

    @Test(arguments: [(1, 1), (33, 40), (80, 90)])
    func `Kitty has every pixel, in chunks of the permitted size`(width: Int, height: Int) throws {
        let image = flags(width, height)

        let text = try drawing(image, .kitty(cell: Self.cell)).text
        let commands = text.components(separatedBy: "\u{1B}_G").dropFirst().map {
            $0.components(separatedBy: "\u{1B}\\")[0].components(separatedBy: ";")
        }

        #expect(commands.first?[0].hasPrefix("a=T,f=24,s=\(width),v=\(height),C=1,q=2,m=") == true)
        #expect(commands.allSatisfy { $0.count == 2 && $0[1].count <= 4_096 })
        #expect(commands.dropLast().allSatisfy { $0[0].hasSuffix("q=2,m=1") && $0[1].count % 4 == 0 })
        #expect(commands.last?[0].hasSuffix("q=2,m=0") == true)
        let data = try #require(Data(base64Encoded: commands.map { $0[1] }.joined()))
        #expect(Array(data) == image.pixels.colors.flatMap { $0 })
    }

    @Test(arguments: [TerminalGraphics.kitty(cell: cell), .sixel(cell: cell)])
    func `an image uses the lines it needs and leaves the cursor below`(graphics: TerminalGraphics) throws {
        let drawing = try drawing(flags(33, 41), graphics)

        #expect(drawing.rows == 3)
        #expect(drawing.columns == 4)
        #expect(drawing.text.hasPrefix("\n\n\n\u{1B}[3A\u{1B}7\u{1B}"))
        #expect(drawing.text.hasSuffix("\u{1B}\\\u{1B}8\u{1B}[3B"))
    }

    @Test func `a large image is reduced to the pixels of its cells`() throws {
        let drawing = try drawing(flags(200, 100), .sixel(cell: Self.cell), columns: 5, rows: 24)

        let read = try #require(SixelReader(drawing.text))
        #expect(read.width == 50)
        #expect(read.height == 25)
        #expect(drawing.rows == 2)
        #expect(drawing.columns == 5)
    }

    @Test(arguments: [PixelSize(width: 0, height: -4), PixelSize(width: .max, height: .max)])
    func `zero and extreme cell sizes are clamped`(cell: PixelSize) throws {
        #expect(try SixelReader(drawing(flags(33, 40), .sixel(cell: cell)).text) != nil)
    }

    @Test func `a canvas without cells shows nothing`() {
        let renderer = TerminalRenderer(
            canvas: TerminalCanvas(columns: 0, rows: 5), depth: .none, graphics: .kitty(cell: Self.cell))

        #expect(renderer.drawing(of: flags(3, 3)) == nil)
    }
}
