import Dispatch
package import Testing

/// Returns once the condition holds. Records a failure of the test when it does not within the time that a busy machine
/// may need.
///
/// For states that signal no change. Where the value is in a ``Guarded``, its `wait(until:)` is exact and takes no time.
package func eventually(
    isolation: isolated (any Actor)? = #isolation, _ condition: () async throws -> Bool, _ comment: Comment? = nil,
    location: SourceLocation = #_sourceLocation
) async throws {
    let end = ContinuousClock.now + .seconds(150)
    while try await !condition() {
        try #require(ContinuousClock.now < end, comment, sourceLocation: location)
        try await Task.sleep(for: .milliseconds(2))
    }
}

/// Returns once the condition, which has to be asked for, holds; a failure of the test as for the other function.
package func eventually(
    _ condition: () async throws -> Bool, _ comment: Comment? = nil, location: SourceLocation = #_sourceLocation
) async throws {
    let end = ContinuousClock.now + .seconds(150)
    while try await !condition() {
        try #require(ContinuousClock.now < end, comment, sourceLocation: location)
        try await Task.sleep(for: .milliseconds(2))
    }
}

/// Suspends the task, which a thread of Dispatch resumes, so that other tasks get a turn.
///
/// Varies the order of events in tests with many tasks. How far the others come is unknown: no assertion may rely on it.
package func letOthersRun() async {
    await withCheckedContinuation { continuation in DispatchQueue.global().async { continuation.resume() } }
}
