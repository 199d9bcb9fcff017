/// The blend formulas that treat each sample on its own; `backdrop` is below `source`, both from 0 to 1.
///
/// Source: W3C, Compositing and Blending Level 1, §9.1.
enum SeparableBlend {
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

    /// Division by nought gives what the conditions put in another's place.
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
