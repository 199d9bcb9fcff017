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
