import Synchronization

/// A connection that is handed from one piece of work to the next.
///
/// Whoever has it has it alone, so nobody ever waits for this lock; it is there to let the compiler prove it.
final class ConfinedFile<Queries>: Sendable {
    private let file: Mutex<DatabaseFile<Queries>>

    init(_ file: sending DatabaseFile<Queries>) { self.file = Mutex(file) }

    func perform<Value: Sendable>(makesFile: Bool, _ work: @Sendable (Queries) throws -> Value) throws -> Value? {
        try file.withLock { try $0.perform(makesFile: makesFile, work) }
    }

    func close() { file.withLock { $0.close() } }
}
