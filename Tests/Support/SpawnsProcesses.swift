import AlcedoLibc
import AlcedoRuntime
package import Testing

/// Bounds how many test functions that start processes run at once, to the number of cores and at least two. On a busy
/// machine their children would otherwise starve one another.
///
/// A function holds its permit for all of its cases, which therefore run one after another. The time limit of a test
/// begins with each case: waiting for the permit does not count.
package struct SpawnsProcesses: SuiteTrait, TestTrait, TestScoping {
    private static let permits = ByteBudget(limit: max(2, sysconf(Int32(_SC_NPROCESSORS_ONLN))))

    /// Every function of a suite needs a permit of its own.
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
    /// Marks a suite or a function that starts processes, so that few of them run at once. Not for a function of a suite
    /// that has the mark: it would need two permits.
    package static var spawnsProcesses: Self { Self() }
}
