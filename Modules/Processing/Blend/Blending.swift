/// Puts pixels over others, in straight colour from 0 to 1.
///
/// Source: W3C, Compositing and Blending Level 1, §5.8 and §9.
struct Blending {
    typealias Pixels = UnsafeMutablePointer<SIMD4<Float>>

    let mode: BlendMode
    /// Whether what is below keeps its alpha, so that nothing is drawn where there was nothing ("source atop").
    let keepsAlpha: Bool

    /// Puts `count` pixels, which `source` gives, over those at `base`.
    ///
    /// - Parameter step: 1, or 0 for the same source everywhere.
    func blend(_ source: UnsafePointer<SIMD4<Float>>, step: Int, over base: Pixels, count: Int) {
        // The literal closures become part of the loops; passed through a variable they would be calls.
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
        for x in 0..<count {
            let (below, above) = (base[x], source[x &* step])
            let mixed = formula(below, above)
            guard !keepsAlpha else {
                var color = below + (mixed - below) * above.w
                color.w = below.w
                base[x] = color
                continue
            }
            base[x] = Self.composite(below, above, mixed)
        }
    }

    /// `above` over `below`, in the mode `normal`.
    @inline(__always)
    static func over(_ below: SIMD4<Float>, _ above: SIMD4<Float>) -> SIMD4<Float> { composite(below, above, above) }

    /// - Parameter mixed: What the blend formula makes of the two.
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
}
