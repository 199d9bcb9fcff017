/// The range of luminance of a decoded image.
///
/// ```swift
/// var request = ImageRequest(url: url)
/// request.decoding.dynamicRange = .high
/// ```
public enum DynamicRange: String, Sendable, Hashable, CaseIterable {
    /// The range of SDR. Images in PQ and HLG are mapped to it when their colors are converted, and a gain map is
    /// ignored.
    case standard
    /// The range of the file. Images in PQ and HLG keep their samples and their profile, and a gain map is applied. SDR
    /// images are treated as with ``standard``.
    case high
}
