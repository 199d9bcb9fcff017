import AlcedoCore
import FoundationEssentials
import Synchronization

/// The database file, on a thread of its own.
final class ConfinedFile: Sendable {
    /// Handed from one piece of work to the next. The executor runs one at a time, so nobody ever waits for this lock;
    /// it is there to let the compiler prove it.
    private let file: Mutex<CacheFile>
    private let executor = BlockingExecutor(name: "alcedo.sqlite-cache", width: 1)

    init(directory: URL) { file = Mutex(CacheFile(directory: directory)) }

    /// Runs `work` on the entries; returns nil when there is no file and `makesFile` is false.
    ///
    /// - Throws: ``SQLiteFailure``, or `CancellationError` when the task is cancelled before the work begins.
    func perform<ColumnValue: Sendable>(
        makesFile: Bool, _ work: @escaping @Sendable (EntryTable) throws -> ColumnValue
    ) async throws -> ColumnValue? {
        try await executor.run {
            try self.file.withLock { try $0.perform(makesFile: makesFile, work) }
        }
    }

    /// Runs work that has no way to say that it was not done: in a task of its own, which nobody cancels. Returns nil
    /// when there is no file, or when it fails.
    @discardableResult
    func performUncancelled<ColumnValue: Sendable>(_ work: @escaping @Sendable (EntryTable) throws -> ColumnValue) async
        -> ColumnValue?
    {
        await Task { try? await perform(makesFile: false, work) }.value ?? nil
    }

    func close() async {
        try? await executor.run { self.file.withLock { $0.close() } }
    }
}
