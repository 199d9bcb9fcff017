import AlcedoCore
import FoundationEssentials

/// Connections to one database file, each on a thread of its own while it works.
final class DatabaseLanes<Queries>: Sendable {
    private let executor: BlockingExecutor
    /// Those that nobody uses now: at most as many as there are threads.
    private let idle = Locked<[ConfinedFile<Queries>]>([])
    private let makeFile: @Sendable () -> ConfinedFile<Queries>

    /// - Parameter width: Most pieces of work that run at once.
    init(
        name: String, width: Int, directory: URL, role: DatabaseFile<Queries>.Role, lockPatience: Duration,
        prepare: @escaping DatabaseFile<Queries>.Preparation
    ) {
        executor = BlockingExecutor(name: name, width: width)
        makeFile = {
            ConfinedFile(DatabaseFile(directory: directory, role: role, lockPatience: lockPatience, prepare: prepare))
        }
    }

    /// Runs `work` on the file; returns nil when there is none and `makesFile` is false.
    ///
    /// - Throws: ``SQLiteFailure``, or `CancellationError` when the task is cancelled before the work begins.
    func run<Value: Sendable>(
        makesFile: Bool = false, priority: LoadPriority = .normal, _ work: @escaping @Sendable (Queries) throws -> Value
    ) async throws -> Value? {
        try await executor.run(priority: priority) { [self] in
            let file = idle.withLock { $0.popLast() } ?? makeFile()
            defer { idle.withLock { $0.append(file) } }
            return try file.perform(makesFile: makesFile, work)
        }
    }

    /// Closes the connections that nobody uses now. The next work opens the file again.
    func close() async {
        _ = try? await executor.run { [self] in
            let files = idle.withLock { idle in
                defer { idle = [] }
                return idle
            }
            for file in files { file.close() }
        }
    }
}
