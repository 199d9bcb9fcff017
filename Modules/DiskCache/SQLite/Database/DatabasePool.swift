import AlcedoCore
import AlcedoRuntime
import FoundationEssentials
import Synchronization

/// A pool of connections to a database file. Each connection runs on one thread at a time.
final class DatabasePool<Queries>: Sendable {
    private struct Idle: Sendable {
        /// The connections that are not in use; at most as many as there are threads.
        var files: [ConfinedFile<Queries>] = []
        /// The number of times that the pool was closed. A connection that was taken at a lower number was taken before
        /// the last close.
        var round = 0
    }

    private let executor: BlockingExecutor
    private let idle = Locked(Idle())
    private let makeFile: @Sendable () -> ConfinedFile<Queries>

    /// Creates a pool without connections.
    ///
    /// - Parameters:
    ///   - name: The name of the threads.
    ///   - maxConcurrent: The maximum number of threads.
    ///   - directory: The cache's directory.
    ///   - role: The role of the connections.
    ///   - lockTimeout: The maximum time of one wait for another connection.
    ///   - onDamage: A closure that is called after damage to the cache's files was removed. The default does nothing.
    ///   - prepare: A closure that prepares a new connection for use.
    init(
        name: String, maxConcurrent: Int, directory: URL, role: DatabaseFile<Queries>.Role, lockTimeout: Duration,
        onDamage: @escaping @Sendable () -> Void = {}, prepare: @escaping DatabaseFile<Queries>.Preparation
    ) {
        executor = BlockingExecutor(name: name, maxConcurrent: maxConcurrent)
        makeFile = {
            ConfinedFile(
                DatabaseFile(
                    directory: directory, role: role, lockTimeout: lockTimeout, onDamage: onDamage,
                    prepare: prepare))
        }
    }

    /// Runs `work` on a connection. Returns nil if there is no file and `makesFile` is false. A reader also returns nil
    /// if anything other than a regular file is at the path of the database, of the log or of the shared memory.
    ///
    /// If the file is damaged or abandoned, a writer removes it and tries once more, so `work` may run twice.
    ///
    /// - Throws: The errors of `work`, ``SQLiteFailure``, or `CancellationError` if the task is canceled before the
    ///   work begins.
    func run<Value: Sendable>(
        makesFile: Bool = false, priority: LoadPriority = .normal, _ work: @escaping @Sendable (Queries) throws -> Value
    ) async throws -> Value? {
        try await executor.run(priority: priority) { [self] in
            let (taken, round) = idle.withLock { ($0.files.popLast(), $0.round) }
            let file = taken ?? makeFile()
            // A connection that was taken before a close is released here, which closes it.
            defer { idle.withLock { if $0.round == round { $0.files.append(file) } } }
            return try file.perform(makesFile: makesFile, work)
        }
    }

    /// Closes the connections. Those in use are closed when their work ends. Later work opens the file again. Does
    /// nothing in a canceled task.
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

/// A connection that passes from one piece of work to the next.
///
/// Only one thread at a time has the connection, so the lock never blocks. The lock lets the compiler check the
/// isolation. It is a `Mutex`, because a connection is not `Sendable`, as the value of `Locked` must be.
private final class ConfinedFile<Queries>: Sendable {
    private let file: Mutex<DatabaseFile<Queries>>

    init(_ file: sending DatabaseFile<Queries>) { self.file = Mutex(file) }

    func perform<Value: Sendable>(makesFile: Bool, _ work: @Sendable (Queries) throws -> Value) throws -> Value? {
        try file.withLock { try $0.perform(makesFile: makesFile, work) }
    }

    func close() { file.withLock { $0.close() } }
}
