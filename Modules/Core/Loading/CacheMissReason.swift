/// Why a cache gave nothing.
public enum CacheMissReason: String, Sendable, Hashable, CaseIterable {
    /// It was asked, and has nothing under the key.
    case notStored
    /// The request does not let it answer.
    case notAllowed
    /// The pipeline has no such cache.
    case noCache
    /// What it has is no whole image.
    case damaged
}
