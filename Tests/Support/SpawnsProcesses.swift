import AlcedoLibc
import AlcedoRuntime
package import Testing

/// Limits how many test functions that start processes run concurrently, to the number of cores and at least two. On a
/// busy machine their child processes would otherwise starve one another.
///
/// A function holds its permit for all of its cases, which therefore run one after another. The time limit of a test
/// begins with each case, so waiting for the permit does not count.
package struct SpawnsProcesses: SuiteTrait, TestTrait, TestScoping {
    private static let permits = ByteBudget(limit: max(2, sysconf(Int32(_SC_NPROCESSORS_ONLN))))

    /// Every function of a suite needs its own permit.
    package var isRecursive: Bool { true }

    package func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? {
        test.isSuite || testCase != nil ? nil : self
    }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await Self.permits.withReservation(of: 1) {
            try await ParallelizationTrait.serialized.provideScope(for: test, testCase: testCase, performing: function)
        }
    }
}

extension Trait where Self == SpawnsProcesses {
    /// Marks a suite or a function that starts processes, so that few of them run concurrently. Not for a function of a
    /// marked suite, which would need two permits.
    package static var spawnsProcesses: Self { Self() }
}
