import AlcedoCore
import AlcedoTerminal
import Foundation
import Testing

/// The text for one picture, as `Fixtures/make.py` has it, which was written after the specifications.
@Suite struct GoldenTests {
    private static let cell = PixelSize(width: 2, height: 4)

    /// A gradient with a transparent corner and a half transparent stripe.
    private let image = DecodedImage(
        pixels: .samples(
            (0..<16).flatMap { y in
                (0..<24).flatMap { x -> [UInt8] in
                    let alpha: UInt8 = x < 6 && y < 4 ? 0 : (10..<12).contains(y) ? 128 : 255
                    return [UInt8(x * 11), UInt8(y * 17), UInt8(x * y % 256), alpha]
                }
            }, width: 24, format: .rgba8, alphaMode: .straight))

    private func golden(_ name: String) throws -> String {
        let file = try #require(Bundle.module.url(forResource: "Fixtures/\(name)", withExtension: "txt"))
        return String(decoding: try Data(contentsOf: file), as: UTF8.self)
    }

    @Test(arguments: [(80, 24), (8, 4), (5, 9), (1, 1)], TerminalColorDepth.allCases)
    func `half blocks match their golden files at several sizes and color depths`(
        cells: (Int, Int), depth: TerminalColorDepth
    ) throws {
        let canvas = TerminalCanvas(columns: cells.0, rows: cells.1)
        let name: String =
            switch depth {
            case .trueColor: "truecolor"
            case .ansi256: "256"
            case .none: "none"
            }

        let drawing = try #require(TerminalRenderer(canvas: canvas, depth: depth).drawing(of: image))

        #expect(try drawing.text == golden("blocks-\(name)-\(cells.0)x\(cells.1)"))
        #expect(drawing.rows == drawing.text.count { $0 == "\n" })
    }

    @Test(arguments: [(12, 4), (4, 2), (1, 1)])
    func `the Kitty protocol matches its golden files at several sizes`(cells: (Int, Int)) throws {
        let canvas = TerminalCanvas(columns: cells.0, rows: cells.1)
        let renderer = TerminalRenderer(canvas: canvas, depth: .none, graphics: .kitty(cell: Self.cell))

        let drawing = try #require(renderer.drawing(of: image, id: 7))

        #expect(try drawing.text == golden("kitty-\(cells.0)x\(cells.1)"))
    }

    @Test(arguments: [(12, 4), (4, 2), (1, 1)])
    func `Sixel matches its golden files at several sizes`(cells: (Int, Int)) throws {
        // As few colours as have a palette of their own.
        let canvas = TerminalCanvas(columns: min(9, cells.0), rows: cells.1)
        let renderer = TerminalRenderer(canvas: canvas, depth: .none, graphics: .sixel(cell: Self.cell))

        let drawing = try #require(renderer.drawing(of: image))

        #expect(try drawing.text == golden("sixel-\(cells.0)x\(cells.1)"))
    }
}
