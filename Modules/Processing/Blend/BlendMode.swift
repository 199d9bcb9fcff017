/// How a colour meets the one under it.
///
/// Source: W3C, Compositing and Blending Level 1, §9: names and formulas.
public enum BlendMode: String, Sendable, Hashable, CaseIterable {
    /// The upper colour alone.
    case normal
    /// The product: never lighter than either.
    case multiply
    /// The product of the complements: never darker than either.
    case screen
    /// Multiplies or screens as the lower colour says; its lights and shadows stay.
    case overlay
    /// The smaller of each sample.
    case darken
    /// The larger of each sample.
    case lighten
    /// Brightens the lower colour to reflect the upper.
    case colorDodge
    /// Darkens the lower colour to reflect the upper.
    case colorBurn
    /// Multiplies or screens as the upper colour says.
    case hardLight
    /// Darkens or lightens as the upper colour says, like a diffused light.
    case softLight
    /// The distance of the two.
    case difference
    /// Like the distance, with less contrast.
    case exclusion
    /// Hue of the upper, saturation and luminosity of the lower.
    case hue
    /// Saturation of the upper, hue and luminosity of the lower.
    case saturation
    /// Hue and saturation of the upper, luminosity of the lower: tints gray images.
    case color
    /// Luminosity of the upper, hue and saturation of the lower.
    case luminosity
}
