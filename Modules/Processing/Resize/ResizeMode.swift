/// How an image meets a size of other proportions.
public enum ResizeMode: String, Sendable, Hashable, CaseIterable {
    /// The whole image inside the size, proportions kept.
    case fit
    /// The size covered by the image, proportions kept; one side may come out longer. ``Crop`` cuts it off.
    case fill
    /// Just the size; proportions may change.
    case exact
}
