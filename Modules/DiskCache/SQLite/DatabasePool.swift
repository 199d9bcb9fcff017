import AlcedoRuntime
import Synchronization

/// The connections of one role, and the threads that use them.
final class DatabasePool: Sendable {
    /// A file that passes from one thread to the next. It is in a `Mutex`, because a connection is not `Sendable`, as
    /// the value of `Locked` must be.
    private final class ConfinedFile: Sendable {
        let file: Mutex<DatabaseFile>

        init(_ file: sending DatabaseFile) { self.file = Mutex(file) }
    }

    private let executor: BlockingExecutor
    private let files: [ConfinedFile]
    private let idle: Locked<[ConfinedFile]>

    /// Creates a pool without connections.
    ///
    /// - Parameters:
    ///   - name: The name of the threads.
    ///   - maxConcurrent: The maximum number of threads, and of connections.
    ///   - makeFile: A closure that creates the file for one connection.
    init(name: String, maxConcurrent: Int, makeFile: () -> sending DatabaseFile) {
        executor = BlockingExecutor(name: name, maxConcurrent: maxConcurrent)
        files = (0..<maxConcurrent).map { _ in ConfinedFile(makeFile()) }
        idle = Locked(files)
    }

    /// The number of calls of ``run(makesFile:_:)`` that wait for a thread.
    var waitingCount: Int { executor.waitingCount }

    /// Runs `work` on a connection, as ``DatabaseFile/perform(makesFile:_:)`` does. If a damaged or abandoned file is
    /// replaced, `work` may run twice.
    ///
    /// - Throws: The errors of `work`, ``SQLiteFailure``, or `CancellationError` if the task is canceled before the
    ///   work begins.
    func run<Value: Sendable>(
        makesFile: Bool = false, _ work: @escaping @Sendable (EntryTable) throws -> Value
    ) async throws -> Value? {
        try await executor.run { [self] in
            // There are as many files as threads, so one is idle.
            guard let taken = idle.withLock({ $0.popLast() }) else { return nil }
            defer { idle.withLock { $0.append(taken) } }
            return try taken.file.withLock { try $0.perform(makesFile: makesFile, work) }
        }
    }

    /// Closes the connections, those in use when their work ends. Later work opens the file again. Does nothing in a
    /// canceled task.
    func close() async {
        _ = try? await executor.run { [files] in
            for confined in files { confined.file.withLock { $0.close() } }
        }
    }
}
