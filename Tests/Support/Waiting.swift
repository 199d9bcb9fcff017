import Dispatch
package import Testing

/// Returns once the condition holds; a failure of the test when it does not for as long as a busy machine may need.
package func eventually(
    _ condition: () throws -> Bool, _ comment: Comment? = nil, location: SourceLocation = #_sourceLocation
) async throws {
    let end = ContinuousClock.now + .seconds(150)
    while try !condition() {
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
