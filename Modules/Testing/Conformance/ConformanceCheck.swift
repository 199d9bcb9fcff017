/// One rule of a contract, to be run on anybody's implementation.
///
/// A kit is a list of checks. Each check makes fresh backends by the factory it is given, so a backend joins a kit in
/// one line of a parameterised test:
///
/// ```swift
/// @Test(arguments: MemoryCacheConformance.checks)
/// func conforms(to check: MemoryCacheConformance.Check) async throws {
///     try await check { MyMemoryCache(costLimit: $0.costLimit) }
/// }
/// ```
///
/// A check throws ``ConformanceFailure`` when the rule is broken, so it serves any test library, or none.
public struct ConformanceCheck<Backend: Sendable, Needs: Sendable>: Sendable, CustomStringConvertible {
    /// Makes a backend for one check.
    package typealias Factory = @Sendable (Needs) throws -> Backend

    /// The rule, in words.
    public let description: String
    private let body: @Sendable (Factory) async throws -> Void

    /// - Parameters:
    ///   - description: The rule, in words.
    ///   - body: Tries the rule on backends that the factory makes, and throws when it is broken.
    package init(_ description: String, _ body: @escaping @Sendable (Factory) async throws -> Void) {
        self.description = description
        self.body = body
    }

    /// Runs the check. Throws ``ConformanceFailure``, or what the backend throws.
    public func callAsFunction(_ make: @Sendable (Needs) throws -> Backend) async throws { try await body(make) }
}

/// A rule of a contract that a backend breaks.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {
    /// What was seen, in one sentence.
    public let description: String

    package init(_ description: String) { self.description = description }

    /// Throws unless `condition` holds.
    static func require(_ condition: Bool, _ description: @autoclosure () -> String) throws {
        guard condition else { throw ConformanceFailure(description()) }
    }
}
