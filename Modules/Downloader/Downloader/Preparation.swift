import AlcedoCore

/// One whose request is still being modified.
struct Preparation: Sendable {
    var waiter: DownloadWaiter
    var priority: LoadPriority
    /// Nil until it has been begun.
    var task: Task<Void, Never>?
}
