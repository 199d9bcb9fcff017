import AlcedoCore

/// A trim that goes from task to thread and back without being copied.
final class TrimRun: Sendable {
    /// Held while files are removed: nobody else asks for it then.
    private let trim: Locked<EntryTrim>

    init(_ trim: EntryTrim) { self.trim = Locked(trim) }

    var report: DataCacheTrimReport { trim.withLock { $0.report } }

    /// Does a step. Returns whether that was the last.
    func advance(in store: EntryStore) -> Bool { trim.withLock { store.advance(&$0) } }
}
