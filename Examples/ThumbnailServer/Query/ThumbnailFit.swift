/// How a picture meets the size that is asked for.
enum ThumbnailFit: String, Sendable {
    /// The whole picture inside the size; never enlarged.
    case fit
    /// The size covered, and what is beyond it cut off.
    case fill
    /// Just the size; proportions change.
    case exact
}
