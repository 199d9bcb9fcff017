import Alcedo
import AlcedoRuntime
import FoundationEssentials

/// Caches finished thumbnails in memory and, if there is one, in a backing store on disk or shared with other servers.
///
/// Only for as long as they are fresh; what nobody may keep is not kept here either.
final class ThumbnailCache: Sendable {
    /// The outcome of writes to the backing store.
    struct WriteStatistics: Sendable {
        /// The store did not take it.
        var failures = 0
        /// Too much waited for the store already.
        var dropped = 0
        /// It waits for the store, or is being written.
        var pending = 0
    }

    private let memory: MemoryCache<ImageKey, Thumbnail>
    private let backingStore: (any DataCaching)?
    private let maximumAge: Duration
    private let scope: String
    private let clock: any TimeSource
    private let writeQueue: WriteQueue
    private let onWrite: @Sendable () -> Void
    private let failures = Locked(0)

    /// - Parameters:
    ///   - memoryLimit: In bytes; nought keeps none there.
    ///   - store: What lies behind.
    ///   - life: For how long what lies there is used, whatever it says itself.
    ///   - scope: Ends the names there: stores of other scopes do not see it.
    ///   - onStored: Called whenever the store has taken something, or has not.
    init(
        memoryLimit: Int, store: (any DataCaching)?, maximumAge: Duration, scope: String = "",
        writeQueue: WriteQueue = WriteQueue(), clock: any TimeSource = SystemClock(),
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

    var writeStatistics: WriteStatistics {
        WriteStatistics(failures: failures.withLock { $0 }, dropped: writeQueue.dropped, pending: writeQueue.count)
    }

    /// What is in memory. Does not wait.
    func memoryThumbnail(for key: ImageKey) -> Thumbnail? { memory.value(for: key) }

    /// What is in the store; it is in memory, too, then.
    func storedThumbnail(for key: ImageKey) async -> Thumbnail? {
        let name = name(of: key)
        guard let backingStore, let entry = await backingStore.entry(for: name) else { return nil }
        guard let thumbnail = Thumbnail(entry, maximumAge: maximumAge) else {
            await backingStore.remove(name)
            return nil
        }
        // What is too old for this server may do for others, who have the store too.
        return storeInMemory(thumbnail, for: key) ? thumbnail : nil
    }

    /// Keeps it while it is fresh. Does not wait for the store, whose trouble is counted, and no error.
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

    /// Returns when what is to be kept is in the store.
    func flush() async {
        await writeQueue.waitUntilEmpty()
        await backingStore?.flush()
    }

    /// What it is called in the store.
    private func name(of key: ImageKey) -> ImageKey { ImageKey(key.resource, variant: key.variant + scope) }

    /// Whether it is fresh at all.
    private func storeInMemory(_ thumbnail: Thumbnail, for key: ImageKey) -> Bool {
        guard let freshUntil = thumbnail.freshness?.shared else { return false }
        let timeToLive = Duration.seconds(freshUntil.timeIntervalSince(clock.now))
        guard timeToLive > .zero else { return false }
        // Keys and notes take about as much beside the bytes.
        memory.store(thumbnail, for: key, cost: thumbnail.data.count + 1024, timeToLive: timeToLive)
        return true
    }
}

/// Writes what was answered already, and lets no more of it wait than there may be: a store that is slow holds up nobody.
final class WriteQueue: Sendable {
    private struct State: Sendable {
        var count = 0
        var byteCount = 0
        var dropped = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let countLimit: Int
    private let byteLimit: Int
    private let state = Locked(State())

    /// - Parameter byteLimit: Most bytes that wait; one piece that has more is taken when there is no other.
    init(countLimit: Int = 256, byteLimit: Int = 32 << 20) {
        (self.countLimit, self.byteLimit) = (countLimit, byteLimit)
    }

    /// How many wait, or are being written.
    var count: Int { state.withLock { $0.count } }

    /// How many there was no room for.
    var dropped: Int { state.withLock { $0.dropped } }

    /// Runs `write`, unless too much waits.
    ///
    /// - Parameter byteCount: What it holds meanwhile.
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

    /// Returns when nothing waits.
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
