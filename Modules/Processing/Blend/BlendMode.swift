extension ImageProcessors {
    /// The formula that combines a color with the color below it.
    ///
    /// Names and formulas are those of the W3C specification Compositing and Blending Level 1, §9.
    public enum BlendMode: String, Sendable, Hashable, CaseIterable {
        /// The upper color alone.
        case normal
        /// The product of the colors. Never lighter than either color.
        case multiply
        /// The complement of the product of the complements. Never darker than either color.
        case screen
        /// Multiplies or screens, depending on the lower color, whose highlights and shadows are kept.
        case overlay
        /// The smaller of the two values of each sample.
        case darken
        /// The larger of the two values of each sample.
        case lighten
        /// Brightens the lower color to reflect the upper color.
        case colorDodge
        /// Darkens the lower color to reflect the upper color.
        case colorBurn
        /// Multiplies or screens, depending on the upper color.
        case hardLight
        /// Darkens or lightens, depending on the upper color, like a diffused light.
        case softLight
        /// The absolute difference of the colors.
        case difference
        /// Like `difference`, with lower contrast.
        case exclusion
        /// The hue of the upper color with the saturation and luminosity of the lower color.
        case hue
        /// The saturation of the upper color with the hue and luminosity of the lower color.
        case saturation
        /// The hue and saturation of the upper color with the luminosity of the lower color. Tints gray images.
        case color
        /// The luminosity of the upper color with the hue and saturation of the lower color.
        case luminosity
    }
}

/// An operation that blends pixels with the pixels below them, in straight color from 0 to 1.
///
/// Source: W3C, Compositing and Blending Level 1, §5.8 and §9.
struct Blending {
    typealias Pixels = UnsafeMutablePointer<SIMD4<Float>>

    let mode: ImageProcessors.BlendMode
    /// The operator that composites the blended color; nil for a tint. A tint mixes the colors as if the backdrop were
    /// opaque, and keeps its alpha.
    let compositing: ImageProcessors.CompositingOperator?

    /// Blends `count` pixels of `source` with the pixels at `base`. `step` is 1, or 0 to use the same source pixel
    /// everywhere.
    func blend(_ source: UnsafePointer<SIMD4<Float>>, step: Int, over base: Pixels, count: Int) {
        // The compiler inlines literal closures into the loops. Closures in a variable would be called for each pixel.
        switch mode {
        case .normal: loop(source, step, base, count) { $1 }
        case .multiply: loop(source, step, base, count) { $0 * $1 }
        case .screen: loop(source, step, base, count) { SeparableBlend.screen($0, $1) }
        case .overlay: loop(source, step, base, count) { SeparableBlend.hardLight($1, $0) }
        case .darken: loop(source, step, base, count) { SeparableBlend.darken($0, $1) }
        case .lighten: loop(source, step, base, count) { SeparableBlend.lighten($0, $1) }
        case .colorDodge: loop(source, step, base, count) { SeparableBlend.colorDodge($0, $1) }
        case .colorBurn: loop(source, step, base, count) { SeparableBlend.colorBurn($0, $1) }
        case .hardLight: loop(source, step, base, count) { SeparableBlend.hardLight($0, $1) }
        case .softLight: loop(source, step, base, count) { SeparableBlend.softLight($0, $1) }
        case .difference: loop(source, step, base, count) { SeparableBlend.difference($0, $1) }
        case .exclusion: loop(source, step, base, count) { SeparableBlend.exclusion($0, $1) }
        case .hue: loop(source, step, base, count) { NonSeparableBlend.hue($0, $1) }
        case .saturation: loop(source, step, base, count) { NonSeparableBlend.saturation($0, $1) }
        case .color: loop(source, step, base, count) { NonSeparableBlend.color($0, $1) }
        case .luminosity: loop(source, step, base, count) { NonSeparableBlend.luminosity($0, $1) }
        }
    }

    @inline(__always)
    private func loop(
        _ source: UnsafePointer<SIMD4<Float>>, _ step: Int, _ base: Pixels, _ count: Int,
        _ formula: (_ backdrop: SIMD4<Float>, _ source: SIMD4<Float>) -> SIMD4<Float>
    ) {
        switch compositing {
        case nil:
            for x in 0..<count {
                let (below, above) = (base[x], source[x &* step])
                var color = below + (formula(below, above) - below) * above.w
                color.w = below.w
                base[x] = color
            }
        case .sourceOver:
            for x in 0..<count {
                let (below, above) = (base[x], source[x &* step])
                base[x] = Self.composite(below, above, formula(below, above))
            }
        case .some(let compositing):
            let (shares, saturates) = (compositing.shares, compositing == .saturate)
            for x in 0..<count {
                let (below, above) = (base[x], source[x &* step])
                base[x] = Self.composite(below, above, formula(below, above), shares, saturates)
            }
        }
    }

    /// Returns `above` over `below` in the mode `normal`.
    @inline(__always)
    static func over(_ below: SIMD4<Float>, _ above: SIMD4<Float>) -> SIMD4<Float> { composite(below, above, above) }

    /// Composites `above` over `below`. `mixed` is the result of the blend formula for the two pixels.
    @inline(__always)
    private static func composite(
        _ below: SIMD4<Float>, _ above: SIMD4<Float>, _ mixed: SIMD4<Float>
    ) -> SIMD4<Float> {
        let alpha = above.w + below.w * (1 - above.w)
        guard alpha > 0 else { return below }
        let color = above * (above.w * (1 - below.w)) + mixed * (above.w * below.w)
        var result = (color + below * (below.w * (1 - above.w))) / alpha
        result.w = alpha
        return result
    }

    /// Composites the two pixels with any operator. `saturates` is that of `saturate`.
    @inline(__always)
    private static func composite(
        _ below: SIMD4<Float>, _ above: SIMD4<Float>, _ mixed: SIMD4<Float>,
        _ shares: ImageProcessors.CompositingOperator.Shares, _ saturates: Bool
    ) -> SIMD4<Float> {
        let share = shares.source.constant + shares.source.ofAlpha * below.w
        let upper = saturates ? min(above.w, 1 - below.w) : above.w * share
        let lower = below.w * (shares.backdrop.constant + shares.backdrop.ofAlpha * above.w)
        let alpha = min(1, upper + lower)
        guard alpha > 0 else { return SIMD4(repeating: 0) }
        let blended = above + (mixed - above) * below.w
        // Only sums exceed the maximum, which multiplied color must not.
        var result = SeparableBlend.darken(SIMD4(repeating: 1), blended * upper + below * lower) / alpha
        result.w = alpha
        return result
    }
}

/// The blend formulas that treat each sample separately. `backdrop` is below `source`; both range from 0 to 1.
///
/// Source: W3C, Compositing and Blending Level 1, §9.1.
private enum SeparableBlend {
    private static let one = SIMD4<Float>(repeating: 1)

    @inline(__always)
    static func screen(_ backdrop: SIMD4<Float>, _ source: SIMD4<Float>) -> SIMD4<Float> {
        backdrop + source - backdrop * source
    }

    @inline(__always)
    static func darken(_ backdrop: SIMD4<Float>, _ source: SIMD4<Float>) -> SIMD4<Float> {
        backdrop.replacing(with: source, where: source .< backdrop)
    }

    @inline(__always)
    static func lighten(_ backdrop: SIMD4<Float>, _ source: SIMD4<Float>) -> SIMD4<Float> {
        backdrop.replacing(with: source, where: source .> backdrop)
    }

    @inline(__always)
    static func hardLight(_ backdrop: SIMD4<Float>, _ source: SIMD4<Float>) -> SIMD4<Float> {
        let doubled = source + source
        return (backdrop * doubled).replacing(with: screen(backdrop, doubled - 1), where: source .> 0.5)
    }

    /// Computes color dodge. Some lanes divide by zero, and the conditions replace their results.
    @inline(__always)
    static func colorDodge(_ backdrop: SIMD4<Float>, _ source: SIMD4<Float>) -> SIMD4<Float> {
        let quotient = darken(one, backdrop / (1 - source))
        return quotient.replacing(with: 1, where: source .>= 1).replacing(with: 0, where: backdrop .<= 0)
    }

    @inline(__always)
    static func colorBurn(_ backdrop: SIMD4<Float>, _ source: SIMD4<Float>) -> SIMD4<Float> {
        let quotient = 1 - darken(one, (1 - backdrop) / source)
        return quotient.replacing(with: 0, where: source .<= 0).replacing(with: 1, where: backdrop .>= 1)
    }

    @inline(__always)
    static func softLight(_ backdrop: SIMD4<Float>, _ source: SIMD4<Float>) -> SIMD4<Float> {
        let doubled = source + source
        let dark = backdrop - (1 - doubled) * backdrop * (1 - backdrop)
        let cubic = ((16 * backdrop - 12) * backdrop + 4) * backdrop
        let curve = cubic.replacing(with: backdrop.squareRoot(), where: backdrop .> 0.25)
        return dark.replacing(with: backdrop + (doubled - 1) * (curve - backdrop), where: source .> 0.5)
    }

    @inline(__always)
    static func difference(_ backdrop: SIMD4<Float>, _ source: SIMD4<Float>) -> SIMD4<Float> {
        lighten(backdrop, source) - darken(backdrop, source)
    }

    @inline(__always)
    static func exclusion(_ backdrop: SIMD4<Float>, _ source: SIMD4<Float>) -> SIMD4<Float> {
        backdrop + source - 2 * backdrop * source
    }
}

/// The blend formulas that treat a color as a whole. The fourth lane is ignored.
///
/// Source: W3C, Compositing and Blending Level 1, §9.2.
private enum NonSeparableBlend {
    @inline(__always)
    static func hue(_ backdrop: SIMD4<Float>, _ source: SIMD4<Float>) -> SIMD4<Float> {
        color(luminosity(of: backdrop), in: saturated(source, as: saturation(of: backdrop)))
    }

    @inline(__always)
    static func saturation(_ backdrop: SIMD4<Float>, _ source: SIMD4<Float>) -> SIMD4<Float> {
        color(luminosity(of: backdrop), in: saturated(backdrop, as: saturation(of: source)))
    }

    @inline(__always)
    static func color(_ backdrop: SIMD4<Float>, _ source: SIMD4<Float>) -> SIMD4<Float> {
        color(luminosity(of: backdrop), in: source)
    }

    @inline(__always)
    static func luminosity(_ backdrop: SIMD4<Float>, _ source: SIMD4<Float>) -> SIMD4<Float> {
        color(luminosity(of: source), in: backdrop)
    }

    /// Returns the function Lum of the specification.
    @inline(__always)
    private static func luminosity(of color: SIMD4<Float>) -> Float {
        0.3 * color.x + 0.59 * color.y + 0.11 * color.z
    }

    /// Returns the function Sat of the specification.
    @inline(__always)
    private static func saturation(of color: SIMD4<Float>) -> Float {
        max(color.x, color.y, color.z) - min(color.x, color.y, color.z)
    }

    /// Computes SetSat of the specification: the smallest sample becomes 0, the largest becomes the saturation.
    @inline(__always)
    private static func saturated(_ color: SIMD4<Float>, as saturation: Float) -> SIMD4<Float> {
        let low = min(color.x, color.y, color.z)
        let range = max(color.x, color.y, color.z) - low
        return range > 0 ? (color - low) * (saturation / range) : SIMD4(repeating: 0)
    }

    /// Computes SetLum and ClipColor of the specification.
    @inline(__always)
    private static func color(_ target: Float, in color: SIMD4<Float>) -> SIMD4<Float> {
        var result = color + (target - luminosity(of: color))
        let light = luminosity(of: result)
        let low = min(result.x, result.y, result.z)
        let high = max(result.x, result.y, result.z)
        if low < 0 { result = light + (result - light) * (light / (light - low)) }
        if high > 1 { result = light + (result - light) * ((1 - light) / (high - light)) }
        return result
    }
}
