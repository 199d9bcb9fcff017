/// The data that a pipeline stores on disk for the images that it loads.
///
/// The original bytes of local files, `data:` URLs and sources in memory are not copied. Images processed from them are
/// stored under the policies that store processed images.
///
/// Under these policies, a request without an image of its own on disk begins with the stored image of the longest
/// prefix of its processors, if there is one: after a load with the processors `[a]`, one with `[a, b]` needs neither
/// the original nor `a`. Its result has the loss of the format in which the image after `a` is stored. The stored image
/// is not used if it was made of other bytes than those that the pipeline has decoded last, or than those of the
/// original on disk.
public enum DataCachePolicy: String, Sendable, Hashable, CaseIterable {
    /// The original bytes, which serve every size and processor.
    case original
    /// The image as requested, with its size and processors, in a format that preserves it. If the request does not
    /// change the image, the original bytes are stored. If it does, and older bytes are on disk, they are replaced.
    /// Nuke's name for this policy is `automatic`.
    case processed
    /// The original bytes and the image as requested.
    case both

    /// Whether the original bytes are stored.
    ///
    /// - Parameter isVariant: Whether the request changes the image.
    package func keepsOriginal(isVariant: Bool) -> Bool {
        switch self {
        case .original, .both: true
        case .processed: !isVariant
        }
    }

    /// Whether changed images are stored.
    package var keepsVariants: Bool { self != .original }
}
