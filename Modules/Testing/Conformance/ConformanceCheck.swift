/// The contract of a protocol, as a list of checks that every implementation must pass.
///
/// A backend runs the checks of a kit in one parameterized test:
///
/// ```swift
/// import AlcedoTesting
/// import Testing
///
/// @Test(arguments: MemoryCacheConformance.checks)
/// func conforms(to check: MemoryCacheConformance.Check) async throws {
///     try await check { MyMemoryCache(costLimit: $0.byteLimit) }
/// }
/// ```
public protocol ConformanceKit {
    /// The type that the factory of a check returns: the implementation, and the test file if the checks need one.
    associatedtype Backend: Sendable

    /// The checks that every implementation must pass, for a parameterized test.
    static var checks: [ConformanceCheck<Backend>] { get }
}

extension ConformanceKit {
    /// A check of one rule of the contract.
    public typealias Check = ConformanceCheck<Backend>
}

/// A check of one rule of a contract, for any implementation.
///
/// A check creates new backends with the factory that it is given. It throws an error when a backend breaks the rule,
/// so it works with any test library, or without one. The description of an error that the check itself creates says
/// in one sentence what the backend did.
public struct ConformanceCheck<Backend: Sendable>: Sendable, CustomStringConvertible {
    /// A closure that creates a backend for one check.
    package typealias Factory = @Sendable (ConformanceOptions) throws -> Backend

    /// The rule, as a sentence.
    public let description: String
    private let body: @Sendable (Factory) async throws -> Void

    /// Creates a check.
    ///
    /// - Parameters:
    ///   - description: The rule, as a sentence.
    ///   - body: A closure that tests the rule on backends that the factory creates. It throws an error when a backend
    ///     breaks the rule.
    package init(_ description: String, _ body: @escaping @Sendable (Factory) async throws -> Void) {
        self.description = description
        self.body = body
    }

    /// Runs the check.
    ///
    /// - Parameter make: A closure that creates a new backend with the options of the check. A check may call it
    ///   several times.
    /// - Throws: An error that describes the broken rule, or any other error that ends the check, such as one of the
    ///   backend or the factory.
    public func callAsFunction(_ make: @Sendable (ConformanceOptions) throws -> Backend) async throws {
        try await body(make)
    }
}

/// The requirements of a check for the backend that it receives. Only caches and stores must meet them.
public struct ConformanceOptions: Sendable {
    /// The maximum number of bytes that the backend may store. Default: 1 MiB.
    public var byteLimit = 1 << 20
    /// A number that identifies the storage within one check. When the factory receives the same number again, it opens
    /// the storage with the entries of the previous backend. A backend that does not keep entries beyond its own
    /// lifetime ignores the number. Default: 0.
    public var storage = 0
}

/// The error of a check whose rule a backend breaks.
package struct ConformanceFailure: Error, Sendable, CustomStringConvertible {
    /// A description of the failure, in one sentence.
    package let description: String

    package init(_ description: String) { self.description = description }

    /// Throws an error unless `condition` holds.
    static func require(_ condition: Bool, _ description: @autoclosure () -> String) throws {
        guard condition else { throw ConformanceFailure(description()) }
    }

    /// Returns the value of `event`. Throws an error if the event has not occurred after 30 seconds, and cancels its
    /// task. The time is long, because a task may wait until it runs when many tests share few threads.
    static func require<Value: Sendable>(
        _ description: String, of event: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask(operation: event)
            group.addTask {
                try await Task.sleep(for: .seconds(30))
                throw ConformanceFailure(description)
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() else { throw CancellationError() }
            return value
        }
    }

    /// Throws an error unless a connection to the server ends.
    static func requireDisconnect(from origin: LoopbackOrigin) async throws {
        try await require("the connection stays open") { try await origin.waitForDisconnects() }
    }

    /// Throws an error unless the task ends with `CancellationError`.
    static func requireCancellation<Value>(of task: Task<Value, any Error>) async throws {
        do {
            _ = try await task.value
            throw ConformanceFailure("returned a value instead of throwing CancellationError")
        } catch is CancellationError {
            return
        }
    }
}
