/// The contract of a protocol as a list of checks for every implementation.
///
/// A backend joins a kit with one parameterized test:
///
/// ```swift
/// @Test(arguments: MemoryCacheConformance.checks)
/// func conforms(to check: MemoryCacheConformance.Check) async throws {
///     try await check { MyMemoryCache(costLimit: $0.byteLimit) }
/// }
/// ```
public protocol ConformanceKit {
    /// The implementation that a check tries.
    associatedtype Backend: Sendable

    /// All rules, for a parameterized test.
    static var checks: [ConformanceCheck<Backend>] { get }
}

extension ConformanceKit {
    /// One rule of the contract.
    public typealias Check = ConformanceCheck<Backend>
}

/// One rule of a contract, which any implementation can be tested for.
///
/// A check makes fresh backends with the factory it is given. It throws ``ConformanceFailure`` when the rule is broken, so
/// that it works with any test library, or without one.
public struct ConformanceCheck<Backend: Sendable>: Sendable, CustomStringConvertible {
    /// Makes a backend for one check.
    package typealias Factory = @Sendable (ConformanceOptions) throws -> Backend

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
    ///
    /// - Parameter make: Makes a backend with the options of the check.
    public func callAsFunction(_ make: @Sendable (ConformanceOptions) throws -> Backend) async throws {
        try await body(make)
    }
}

/// The requirements of a check on the backend that it is given. Only caches and stores have to meet them.
public struct ConformanceOptions: Sendable {
    /// The maximum number of bytes that the backend may keep. Default: 1 MiB.
    public var byteLimit = 1 << 20
    /// The number of the storage. A factory that gets the same number twice opens the same entries again. A backend that
    /// keeps nothing beyond its own lifetime ignores it. Default: 0.
    public var storage = 0
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
