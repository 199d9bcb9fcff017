import AlcedoProcessing

/// The specification's formulas in floating point, sample by sample, without vectors.
///
/// Source: W3C, Compositing and Blending Level 1, §5.8, §9.1 and §9.2; for `saturate`, the documentation of cairo.
enum ReferenceBlend {
    typealias Color = [Double]

    /// Returns the premultiplied color and alpha of `source` composited with `backdrop`, both straight.
    static func composite(
        _ backdrop: Color, _ source: Color, _ mode: ImageProcessors.BlendMode,
        _ compositing: ImageProcessors.CompositingOperator = .sourceOver
    ) -> Color {
        let (ab, sa) = (backdrop[3], source[3])
        let mixed = blend(Array(backdrop.prefix(3)), Array(source.prefix(3)), mode)
        let (upper, lower) = shares(compositing, ab, sa)
        let color = (0..<3).map { (channel: Int) -> Double in
            let blended: Double = (1 - ab) * source[channel] + ab * mixed[channel]
            return min(1, sa * upper * blended + ab * lower * backdrop[channel])
        }
        return color + [min(1, sa * upper + ab * lower)]
    }

    /// Returns the shares of the source and of the backdrop, which the specification calls Fa and Fb.
    private static func shares(
        _ compositing: ImageProcessors.CompositingOperator, _ ab: Double, _ sa: Double
    ) -> (upper: Double, lower: Double) {
        switch compositing {
        case .sourceOver: (1, 1 - sa)
        case .sourceIn: (ab, 0)
        case .sourceOut: (1 - ab, 0)
        case .sourceAtop: (ab, 1 - sa)
        case .destinationOver: (1 - ab, 1)
        case .destinationIn: (0, sa)
        case .destinationOut: (0, 1 - sa)
        case .destinationAtop: (1 - ab, sa)
        case .xor: (1 - ab, 1 - sa)
        case .add: (1, 1)
        case .saturate: (sa == 0 ? 0 : min(1, (1 - ab) / sa), 1)
        }
    }

    static func blend(_ b: Color, _ s: Color, _ mode: ImageProcessors.BlendMode) -> Color {
        switch mode {
        case .hue: return setLum(setSat(s, sat(b)), lum(b))
        case .saturation: return setLum(setSat(b, sat(s)), lum(b))
        case .color: return setLum(s, lum(b))
        case .luminosity: return setLum(b, lum(s))
        default: return zip(b, s).map { separable($0, $1, mode) }
        }
    }

    private static func separable(_ b: Double, _ s: Double, _ mode: ImageProcessors.BlendMode) -> Double {
        switch mode {
        case .multiply: return b * s
        case .screen: return 1 - (1 - b) * (1 - s)
        case .overlay: return separable(s, b, .hardLight)
        case .darken: return min(b, s)
        case .lighten: return max(b, s)
        case .colorDodge: return b == 0 ? 0 : s == 1 ? 1 : min(1, b / (1 - s))
        case .colorBurn: return b == 1 ? 1 : s == 0 ? 0 : 1 - min(1, (1 - b) / s)
        case .hardLight: return s <= 0.5 ? b * 2 * s : 1 - (1 - b) * (1 - (2 * s - 1))
        case .softLight:
            let d = b <= 0.25 ? ((16 * b - 12) * b + 4) * b : b.squareRoot()
            return s <= 0.5 ? b - (1 - 2 * s) * b * (1 - b) : b + (2 * s - 1) * (d - b)
        case .difference: return abs(b - s)
        case .exclusion: return b + s - 2 * b * s
        case .normal, .hue, .saturation, .color, .luminosity: return s
        }
    }

    private static func lum(_ c: Color) -> Double { 0.3 * c[0] + 0.59 * c[1] + 0.11 * c[2] }

    private static func sat(_ c: Color) -> Double { (c.max() ?? 0) - (c.min() ?? 0) }

    private static func setLum(_ c: Color, _ l: Double) -> Color {
        var color = c.map { $0 + l - lum(c) }
        let (light, low, high) = (lum(color), color.min() ?? 0, color.max() ?? 0)
        if low < 0 { color = color.map { light + ($0 - light) * light / (light - low) } }
        if high > 1 { color = color.map { light + ($0 - light) * (1 - light) / (high - light) } }
        return color
    }

    private static func setSat(_ c: Color, _ s: Double) -> Color {
        let order = [0, 1, 2].sorted { c[$0] < c[$1] }
        var color = [0.0, 0, 0]
        if c[order[2]] > c[order[0]] {
            color[order[1]] = (c[order[1]] - c[order[0]]) * s / (c[order[2]] - c[order[0]])
            color[order[2]] = s
        }
        return color
    }
}
