/// How a picture meets a target of other proportions.
public enum ContentMode: String, Sendable, Hashable {
    /// The whole picture inside the target.
    case fit
    /// The whole target covered by the picture.
    case fill
}
