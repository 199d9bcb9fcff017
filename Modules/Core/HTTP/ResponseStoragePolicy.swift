/// Where an answer may be kept: the storage policies of `URLCache`. The stricter one is the larger.
public enum ResponseStoragePolicy: UInt8, Sendable, Hashable, Comparable, CaseIterable {
    case allowed
    case allowedInMemoryOnly
    case notAllowed

    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
