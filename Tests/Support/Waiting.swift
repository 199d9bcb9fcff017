import Dispatch
package import Testing

/// Returns once the condition holds. Records a failure of the test and throws if it does not hold within 150 seconds.
///
/// For states that signal no change, such as another process's files. If the value is a `Watched`, use its
/// `waitUntil(_:)`, which waits for the change itself.
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

/// Returns once the condition, which may suspend, holds. Fails like the other function.
package func eventually(
    _ condition: () async throws -> Bool, _ comment: Comment? = nil, location: SourceLocation = #_sourceLocation
) async throws {
    let end = ContinuousClock.now + .seconds(150)
    while try await !condition() {
        try #require(ContinuousClock.now < end, comment, sourceLocation: location)
        try await Task.sleep(for: .milliseconds(2))
    }
}

/// Suspends the task until a thread of Dispatch resumes it, so that other tasks run.
///
/// Varies the order of events in tests with many tasks. Not a way to wait: no assertion may rely on what the others
/// did.
package func letOthersRun() async {
    await withCheckedContinuation { continuation in DispatchQueue.global().async { continuation.resume() } }
}
