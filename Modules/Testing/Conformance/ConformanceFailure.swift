/// A rule of a contract that a backend breaks.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {
    /// What was seen, in one sentence.
    public let description: String

    /// A failure in one sentence.
    public init(_ description: String) { self.description = description }

    /// Throws unless `condition` holds.
    static func require(_ condition: Bool, _ description: @autoclosure () -> String) throws {
        guard condition else { throw ConformanceFailure(description()) }
    }
}
