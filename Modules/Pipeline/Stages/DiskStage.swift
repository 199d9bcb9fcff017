import AlcedoCore
import AlcedoRuntime
import FoundationEssentials

/// The disk cache as loads use it: reads that are reported, writes behind them that fail nobody.
struct DiskStage: Sendable {
    private let cache: (any DataCaching)?
    private let generations: GenerationCounter
    private let writes: DiskWriteQueue
    private let report: Reporter
    private let reads = ByteBudget(limit: Self.maxConcurrentReads)

    /// At once: each may bring an image's bytes.
    private static let maxConcurrentReads = 16

    init(_ cache: (any DataCaching)?, generations: GenerationCounter, writes: DiskWriteQueue, report: Reporter) {
        self.cache = cache
        self.generations = generations
        self.writes = writes
        self.report = report
    }

    /// What is stored under a key, if it may be read, when there is room for it.
    ///
    /// - Parameter hold: Counts the bytes.
    /// - Throws: `CancellationError` only.
    func read(
        _ key: ImageKey, isAllowed: Bool, into reservation: EncodedByteReservation, _ priority: PriorityHandle
    ) async throws -> Data? {
        guard let cache, isAllowed else {
            report(key, .diskMiss(cache == nil ? .noCache : .notAllowed))
            return nil
        }
        return try await reads.withReservation(of: 1, priority: priority) {
            try await reservation.waitForAdmission(priority)
            let start = report.now
            guard let data = await cache.data(for: key) else {
                try Task.checkCancellation()
                report(key, .diskMiss(.notStored), since: start)
                return nil
            }
            report(key, .diskHit(bytes: data.count), since: start)
            return data
        }
    }

    func contains(_ key: ImageKey) async -> Bool { await cache?.contains(key) == true }

    /// Stores bytes behind the caller's back while there is room, unless the resource has been removed since the generation.
    ///
    /// - Parameters:
    ///   - timeToLive: How long they are kept from now on; nil for as long as the cache's limits say.
    ///   - byteCount: Bytes that are held until they are stored.
    ///   - makeData: Makes the bytes, when it is their turn; nil for none. An error is as none.
    func write(
        for key: ImageKey, since generation: Generation?, timeToLive: Duration?, byteCount: Int,
        _ makeData: @escaping @Sendable () async throws -> Data?
    ) async {
        guard let cache, let generation else { return }
        let expiry = timeToLive.map { report.clock.now.addingTimeInterval($0 / .seconds(1)) }
        let isAccepted = await writes.submit(key, byteCount: byteCount) { [generations, report] in
            guard generations.isUnchanged(key.resource, since: generation), let data = try? await makeData() else {
                return
            }
            guard generations.isUnchanged(key.resource, since: generation) else { return }
            do {
                try await cache.store(CachedData(data, expiry: expiry), for: key)
            } catch is CancellationError {
                return
            } catch {
                report(key, .diskWriteFailed(error))
            }
        }
        if !isAccepted { report(key, .diskWriteFailed(Self.stalled)) }
    }

    /// Stores bytes after the earlier writes under their key. Returns when they are stored, or when the resource has been
    /// changed since the generation.
    ///
    /// - Throws: ``PipelineError`` `notStored`.
    func store(_ data: Data, for key: ImageKey, since generation: Generation) async throws {
        guard let cache else { return }
        let outcome = Locked<Result<Void, any Error>?>(nil)
        let isAccepted = await writes.submit(key, byteCount: data.count) { [generations] in
            var result = Result<Void, any Error>.success(())
            do {
                if generations.isUnchanged(key.resource, since: generation) { try await cache.store(data, for: key) }
            } catch {
                result = .failure(error)
            }
            outcome.withLock { [result] in $0 = result }
        }
        if isAccepted { await writes.flushEntry(key) }
        guard isAccepted, let result = outcome.withLock({ $0 }) else { throw Self.stalled }
        if case .failure(let error) = result { throw PipelineError(.notStored, "\(error)", cause: error) }
    }

    /// Removes everything, and what was to be stored when this was called. The change has been counted.
    func removeAll() async {
        await writes.flush()
        await cache?.removeAll()
    }

    /// Removes what is stored under a key.
    func remove(_ key: ImageKey) async { await cache?.remove(key) }

    /// Removes what is stored under a key behind the caller's back, after what is to be written under it.
    func removeSoon(_ key: ImageKey) async {
        guard let cache else { return }
        _ = await writes.submit(key, byteCount: 0) { await cache.remove(key) }
    }

    /// Removes what is stored of a resource, and what was to be stored when this was called. The change has been noted.
    func removeResource(_ resource: ResourceKey) async {
        await writes.flush()
        await cache?.removeAll(of: resource)
    }

    /// Returns when every write so far is on disk, or the disk has stopped.
    func flush() async { await writes.flush() }

    /// Returns when what was last written under a key is on disk, or it takes too long.
    func flushEntry(_ key: ImageKey) async { await writes.flushEntry(key) }

    private static let stalled = PipelineError(.notStored, "the disk cache ends no write, and too many wait for it")
}
