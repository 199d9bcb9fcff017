/// How colour samples relate to alpha.
public enum AlphaMode: String, Sendable, Hashable {
    /// Every pixel is opaque; an alpha sample, where there is one, is at its maximum.
    case opaque
    /// Colour is independent of alpha, as files store it.
    case straight
    /// Colour is multiplied by alpha, as filters and compositors want it.
    case premultiplied
}
