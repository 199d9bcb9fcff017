/// An answer, or what makes one.
enum HTTPAnswer: Sendable {
    case now(Reply)
    /// Runs as a task, which is cancelled when the client goes away.
    case later(@Sendable () async -> Reply)
}
