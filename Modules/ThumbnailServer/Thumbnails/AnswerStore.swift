import Alcedo
import AlcedoRuntime
import FoundationEssentials

/// Keeps finished pictures: in memory, and where it is given one, in a store that may be on disk or shared.
///
/// Only for as long as they are fresh; what nobody may keep is not kept here either.
final class AnswerStore: Sendable {
    /// What became of what was to be stored.
    struct Storing: Sendable {
        /// The store did not take it.
        var failures = 0
        /// Too much waited for the store already.
        var dropped = 0
        /// It waits for the store, or is being written.
        var waiting = 0
    }

    private let memory: MemoryCache<ImageKey, Thumbnail>
    private let store: (any DataCaching)?
    private let life: Duration
    private let scope: String
    private let clock: any TimeSource
    private let backlog: StoreBacklog
    private let onStored: @Sendable () -> Void
    private let failures = Locked(0)

    /// - Parameters:
    ///   - memoryLimit: In bytes; nought keeps none there.
    ///   - store: What lies behind.
    ///   - life: For how long what lies there is used, whatever it says itself.
    ///   - scope: Ends the names there: stores of other scopes do not see it.
    ///   - onStored: Called whenever the store has taken something, or has not.
    init(
        memoryLimit: Int, store: (any DataCaching)?, life: Duration, scope: String = "",
        backlog: StoreBacklog = StoreBacklog(), clock: any TimeSource = SystemClock(),
        onStored: @escaping @Sendable () -> Void = {}
    ) {
        memory = MemoryCache(limits: MemoryCacheLimits(costLimit: memoryLimit), clock: clock)
        self.store = store
        self.life = life
        self.scope = scope
        self.backlog = backlog
        self.onStored = onStored
        self.clock = clock
    }

    var storing: Storing {
        Storing(failures: failures.withLock { $0 }, dropped: backlog.dropped, waiting: backlog.count)
    }

    /// What is in memory. Does not wait.
    func quickAnswer(for key: ImageKey) -> Thumbnail? { memory.value(for: key) }

    /// What is in the store; it is in memory, too, then.
    func storedAnswer(for key: ImageKey) async -> Thumbnail? {
        let name = name(of: key)
        guard let store, let entry = await store.entry(for: name) else { return nil }
        guard let thumbnail = Thumbnail(entry, life: life) else {
            await store.remove(name)
            return nil
        }
        // What is too old for this server may do for others, who have the store too.
        return keepInMemory(thumbnail, for: key) ? thumbnail : nil
    }

    /// Keeps it while it is fresh. Does not wait for the store, whose trouble is counted, and no error.
    func keep(_ thumbnail: Thumbnail, for key: ImageKey) {
        guard let entry = thumbnail.entry, keepInMemory(thumbnail, for: key), let store else { return }
        backlog.add(entry.data.count) { [self] in
            do {
                try await store.store(entry, for: name(of: key))
            } catch {
                failures.withLock { $0 += 1 }
            }
            onStored()
        }
    }

    /// Returns when what is to be kept is in the store.
    func flush() async {
        await backlog.waitUntilEmpty()
        await store?.flush()
    }

    /// What it is called in the store.
    private func name(of key: ImageKey) -> ImageKey { ImageKey(key.resource, variant: key.variant + scope) }

    /// Whether it is fresh at all.
    private func keepInMemory(_ thumbnail: Thumbnail, for key: ImageKey) -> Bool {
        guard let freshUntil = thumbnail.freshness?.shared else { return false }
        let life = Duration.seconds(freshUntil.timeIntervalSince(clock.now))
        guard life > .zero else { return false }
        // Keys and notes take about as much beside the bytes.
        memory.store(thumbnail, for: key, cost: thumbnail.data.count + 1024, timeToLive: life)
        return true
    }
}

/// Writes what was answered already, and lets no more of it wait than there may be: a store that is slow holds up nobody.
final class StoreBacklog: Sendable {
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
