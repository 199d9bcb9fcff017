import AlcedoDiskCache
import AlcedoRuntime

/// The faults of a disk, which a test changes while a cache uses it.
final class FaultyDisk: Sendable {
    typealias Faults = @Sendable (DiskFileOperation) -> DiskFileFault?

    private let faults = Locked<Faults>({ _ in nil })

    /// Replaces the faults. Operations in progress may still have the previous ones.
    func setFaults(_ faults: @escaping Faults) { self.faults.withLock { $0 = faults } }

    func repair() { setFaults { _ in nil } }

    /// The closure for the cache.
    func fault(in operation: DiskFileOperation) -> DiskFileFault? { faults.withLock { $0 }(operation) }
}
