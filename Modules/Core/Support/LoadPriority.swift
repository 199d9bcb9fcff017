/// How urgent a piece of work is. Work of equal priority runs in the order it came.
public enum LoadPriority: Int, Sendable, Comparable, CaseIterable {
    case veryLow
    case low
    case normal
    case high
    case veryHigh

    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
