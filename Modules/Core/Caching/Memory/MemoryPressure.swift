/// How short memory is.
public enum MemoryPressure: Int, Sendable, Comparable {
    /// There is enough.
    case normal
    /// Give back what is cheap to make again.
    case warning
    /// Give back everything.
    case critical

    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
