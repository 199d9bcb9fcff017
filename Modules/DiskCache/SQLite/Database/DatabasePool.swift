import AlcedoCore
import AlcedoRuntime
import FoundationEssentials
import Synchronization

/// Connections to one database file, each on a thread of its own while it works.
final class DatabasePool<Queries>: Sendable {
    private struct Idle: Sendable {
        /// Those that nobody uses now: at most as many as there are threads.
        var files: [ConfinedFile<Queries>] = []
        /// Tells what was taken before they were closed.
        var round = 0
    }

    private let executor: BlockingExecutor
    private let idle = Locked(Idle())
    private let makeFile: @Sendable () -> ConfinedFile<Queries>

    /// - Parameter width: Most pieces of work that run at once.
    init(
        name: String, width: Int, directory: URL, role: DatabaseFile<Queries>.Role, lockTimeout: Duration,
        onDamage: @escaping @Sendable () -> Void = {}, prepare: @escaping DatabaseFile<Queries>.Preparation
    ) {
        executor = BlockingExecutor(name: name, width: width)
        makeFile = {
            ConfinedFile(
                DatabaseFile(
                    directory: directory, role: role, lockTimeout: lockTimeout, onDamage: onDamage,
                    prepare: prepare))
        }
    }

    /// Runs `work` on the file; returns nil when there is none and `makesFile` is false.
    ///
    /// - Throws: ``SQLiteFailure``, or `CancellationError` when the task is cancelled before the work begins.
    func run<Value: Sendable>(
        makesFile: Bool = false, priority: LoadPriority = .normal, _ work: @escaping @Sendable (Queries) throws -> Value
    ) async throws -> Value? {
        try await executor.run(priority: priority) { [self] in
            let (taken, round) = idle.withLock { ($0.files.popLast(), $0.round) }
            let file = taken ?? makeFile()
            // One that was to be closed meanwhile is closed by nobody's keeping it.
            defer { idle.withLock { if $0.round == round { $0.files.append(file) } } }
            return try file.perform(makesFile: makesFile, work)
        }
    }

    /// Closes the connections, those that somebody uses as soon as that is over. Work that follows opens the file again.
    func close() async {
        _ = try? await executor.run { [self] in
            let files = idle.withLock { idle in
                defer { idle = Idle(round: idle.round + 1) }
                return idle.files
            }
            for file in files { file.close() }
        }
    }
}

/// A connection that is handed from one piece of work to the next.
///
/// Whoever has it has it alone, so nobody ever waits for this lock; it is there to let the compiler prove it.
private final class ConfinedFile<Queries>: Sendable {
    private let file: Mutex<DatabaseFile<Queries>>

    init(_ file: sending DatabaseFile<Queries>) { self.file = Mutex(file) }

    func perform<Value: Sendable>(makesFile: Bool, _ work: @Sendable (Queries) throws -> Value) throws -> Value? {
        try file.withLock { try $0.perform(makesFile: makesFile, work) }
    }

    func close() { file.withLock { $0.close() } }
}
