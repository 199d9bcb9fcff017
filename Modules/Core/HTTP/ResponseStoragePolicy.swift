/// Where an answer may be kept: the storage policies of `URLCache`. The stricter one is the larger.
public enum ResponseStoragePolicy: UInt8, Sendable, Hashable, Comparable, CaseIterable {
    /// Anywhere.
    case allowed
    /// In memory, and never on disk.
    case allowedInMemoryOnly
    /// Nowhere.
    case notAllowed

    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
