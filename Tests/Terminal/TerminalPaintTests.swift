import AlcedoCore
import Testing

@testable import AlcedoTerminal

@Suite struct TerminalPaintTests {
    /// xterm's palette from 16 on, by its definition.
    private static let palette: [[Int]] = {
        let levels = [0, 95, 135, 175, 215, 255]
        let cube = levels.flatMap { r in levels.flatMap { g in levels.map { b in [r, g, b] } } }
        return cube + (0..<24).map { [Int](repeating: 8 + 10 * $0, count: 3) }
    }()

    private func error(_ color: [Int], _ other: [Int]) -> Int {
        zip(color, other).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }
    }

    @Test func `the chosen palette color is the nearest`() throws {
        let samples: [UInt8] = [0, 3, 47, 48, 94, 114, 115, 135, 155, 194, 235, 255]
        for r in samples {
            for g in samples {
                for b in samples {
                    let paint = TerminalPaint(nearest: PixelColor(red: r, green: g, blue: b))
                    guard case .indexed(let index) = paint, index >= 16 else {
                        Issue.record("not a palette color: \(paint)")
                        return
                    }
                    let color = [Int(r), Int(g), Int(b)]
                    let nearest = Self.palette.map { error(color, $0) }.min()
                    #expect(error(color, Self.palette[Int(index) - 16]) == nearest, "\(color) became \(index)")
                }
            }
        }
    }

    @Test func `palette colors map to themselves`() {
        for (offset, color) in Self.palette.enumerated() {
            let paint = TerminalPaint(
                nearest: PixelColor(red: UInt8(color[0]), green: UInt8(color[1]), blue: UInt8(color[2])))
            #expect(paint == .indexed(UInt8(16 + offset)))
        }
    }
}
