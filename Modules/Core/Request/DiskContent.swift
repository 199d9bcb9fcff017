/// What a pipeline keeps on disk of what it loads.
public enum DiskContent: String, Sendable, Hashable, CaseIterable {
    /// The bytes as they came, for every size and processor there may be.
    case original
    /// The image as it was asked for, in a format that holds it; the bytes as they came when nothing was done to them.
    case processed
    /// Both of these.
    case both
    /// The image as it was asked for where that is more than decoding (a size, a processor); else the bytes as they came.
    /// Files in the file system are not copied, what is made of them is kept.
    case automatic

    /// Whether the bytes as they came are kept, for a request that does or does not change them.
    package func keepsOriginal(isVariant: Bool) -> Bool {
        switch self {
        case .original, .both: true
        case .processed, .automatic: !isVariant
        }
    }

    /// Whether what was made of them is kept.
    package var keepsVariants: Bool { self != .original }
}
