/// One piece of waiting work of a ``BlockingExecutor``. Exactly one of the two closures is called, once.
struct Job: Sendable {
    var id: Int
    var run: @Sendable () -> Void
    var cancel: @Sendable () -> Void
}
