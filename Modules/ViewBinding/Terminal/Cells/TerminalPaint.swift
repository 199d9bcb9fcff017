import AlcedoCore

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
