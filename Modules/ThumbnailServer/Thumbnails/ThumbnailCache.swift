import Alcedo
import AlcedoRuntime
import FoundationEssentials

/// A cache of finished thumbnails in memory and in an optional backing store, on disk or shared with other servers.
///
/// Thumbnails are stored only while they are fresh. A thumbnail that must not be stored is not cached here either.
final class ThumbnailCache: Sendable {
    /// The outcome of writes to the backing store.
    struct WriteStatistics: Sendable {
        /// The number of thumbnails that the store failed to store.
        var failures = 0
        /// The number of thumbnails that were dropped because too many writes were pending.
        var dropped = 0
        /// The number of thumbnails that wait for the store or are being written.
        var pending = 0
    }

    private let memory: MemoryCache<ImageKey, Thumbnail>
    private let backingStore: (any DataCaching)?
    private let maximumAge: Duration
    private let scope: String
    private let clock: any TimeSource
    private let writeQueue: ThumbnailWriteQueue
    private let onWrite: @Sendable () -> Void
    private let failures = Locked(0)

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - memoryLimit: The maximum number of bytes in memory. With zero, no thumbnail is kept in memory.
    ///   - store: The backing store; nil for none.
    ///   - maximumAge: The maximum age of thumbnails from the store, regardless of the freshness that was stored with
    ///     them.
    ///   - scope: A suffix of the keys in the store. Caches with different scopes do not share thumbnails. Default:
    ///     empty.
    ///   - writeQueue: The limits of pending writes.
    ///   - clock: The clock. Default: the system's clock.
    ///   - onWrite: Called after each write to the store, successful or not.
    init(
        memoryLimit: Int, store: (any DataCaching)?, maximumAge: Duration, scope: String = "",
        writeQueue: ThumbnailWriteQueue = ThumbnailWriteQueue(), clock: any TimeSource = SystemClock(),
        onWrite: @escaping @Sendable () -> Void = {}
    ) {
        memory = MemoryCache(limits: MemoryCacheLimits(costLimit: memoryLimit), clock: clock)
        backingStore = store
        self.maximumAge = maximumAge
        self.scope = scope
        self.writeQueue = writeQueue
        self.onWrite = onWrite
        self.clock = clock
    }

    /// Whether there is a backing store.
    var hasStore: Bool { backingStore != nil }

    var writeStatistics: WriteStatistics {
        WriteStatistics(failures: failures.withLock { $0 }, dropped: writeQueue.dropped, pending: writeQueue.count)
    }

    /// Returns the thumbnail in memory; nil if it is absent or no longer fresh. Does not wait.
    func memoryThumbnail(for key: ImageKey) -> Thumbnail? {
        // The memory cache measures times by the uptime, and the clock may have been set since.
        memory.value(for: key).flatMap { $0.freshness?.isFresh(at: clock.now) == true ? $0 : nil }
    }

    /// Returns the thumbnail in the backing store if it is fresh, and stores it in memory; otherwise, returns nil. An
    /// entry with invalid metadata is removed.
    func storedThumbnail(for key: ImageKey) async -> Thumbnail? {
        let name = name(of: key)
        guard let backingStore, let entry = await backingStore.entry(for: name) else { return nil }
        guard let thumbnail = Thumbnail(entry, maximumAge: maximumAge) else {
            await backingStore.remove(name)
            return nil
        }
        // A thumbnail that is too old for this server stays in the store. Other servers may allow a greater age.
        return storeInMemory(thumbnail, for: key) ? thumbnail : nil
    }

    /// Stores a fresh thumbnail in memory and begins to write it to the backing store. Does not wait for the write. A
    /// failed write is counted, but it is not reported as an error.
    func store(_ thumbnail: Thumbnail, for key: ImageKey) {
        guard let entry = thumbnail.entry, storeInMemory(thumbnail, for: key), let backingStore else { return }
        writeQueue.add(entry.data.count) { [self] in
            do {
                try await backingStore.store(entry, for: name(of: key))
            } catch {
                failures.withLock { $0 += 1 }
            }
            onWrite()
        }
    }

    /// Returns when no write is pending and the backing store is flushed.
    func flush() async {
        await writeQueue.waitUntilEmpty()
        await backingStore?.flush()
    }

    /// Returns the key in the backing store.
    private func name(of key: ImageKey) -> ImageKey { ImageKey(key.resource, variant: key.variant + scope) }

    /// Stores a thumbnail in memory if it is fresh. Returns whether it is fresh.
    private func storeInMemory(_ thumbnail: Thumbnail, for key: ImageKey) -> Bool {
        let now = clock.now
        guard let freshness = thumbnail.freshness, freshness.isFresh(at: now) else { return false }
        let timeToLive = Duration.seconds(freshness.shared.timeIntervalSince(now))
        // The key and the metadata occupy about 1 KiB in addition to the bytes.
        memory.store(thumbnail, for: key, cost: thumbnail.data.count + 1024, timeToLive: timeToLive)
        return true
    }
}

/// A limit on pending writes to a store. Writes above the limit are dropped, so a slow store does not delay responses.
final class ThumbnailWriteQueue: Sendable {
    private struct State: Sendable {
        var count = 0
        var byteCount = 0
        var dropped = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let countLimit: Int
    private let byteLimit: Int
    private let state = Locked(State())

    /// Creates a queue.
    ///
    /// - Parameters:
    ///   - countLimit: The maximum number of pending writes. Default: 256.
    ///   - byteLimit: The maximum number of bytes in pending writes. A larger write is accepted if no other is pending.
    ///     Default: 32 MiB.
    init(countLimit: Int = 256, byteLimit: Int = 32 << 20) {
        (self.countLimit, self.byteLimit) = (countLimit, byteLimit)
    }

    /// The number of pending writes, including those in progress.
    var count: Int { state.withLock { $0.count } }

    /// The number of writes that were dropped because of the limits.
    var dropped: Int { state.withLock { $0.dropped } }

    /// Runs `write` in a new task, or drops and counts it if a limit is reached.
    ///
    /// - Parameters:
    ///   - byteCount: The number of bytes that the write keeps in memory.
    ///   - write: The write.
    func add(_ byteCount: Int, _ write: @escaping @Sendable () async -> Void) {
        let isTaken = state.withLock { state in
            guard state.count == 0 || (state.count < countLimit && state.byteCount + byteCount <= byteLimit) else {
                state.dropped += 1
                return false
            }
            state.count += 1
            state.byteCount += byteCount
            return true
        }
        guard isTaken else { return }
        Task {
            await write()
            finished(byteCount)
        }
    }

    /// Returns when no write is pending.
    func waitUntilEmpty() async {
        await withCheckedContinuation { continuation in
            let isEmpty = state.withLock { state in
                if state.count > 0 { state.waiters.append(continuation) }
                return state.count == 0
            }
            if isEmpty { continuation.resume() }
        }
    }

    private func finished(_ byteCount: Int) {
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.count -= 1
            state.byteCount -= byteCount
            guard state.count == 0 else { return [] }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}
