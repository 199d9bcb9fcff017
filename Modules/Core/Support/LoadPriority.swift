/// How urgent a piece of work is. Work of equal priority runs in the order it came.
public enum LoadPriority: Int, Sendable, Comparable, CaseIterable {
    /// After everything else.
    case veryLow
    /// What will be wanted soon, such as prefetched images.
    case low
    /// The default.
    case normal
    /// What somebody looks at.
    case high
    /// Before everything else.
    case veryHigh

    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
