import Alcedo
import FoundationEssentials

/// Keeps finished pictures: in memory, and where it is given one, in a store that may be on disk or shared.
///
/// Only for as long as they are fresh; what nobody may keep is not kept here either.
final class AnswerStore: Sendable {
    private let memory: MemoryCache<ImageKey, Thumbnail>
    private let store: (any DataCaching)?
    private let clock: any TimeSource
    private let failures = Locked(0)

    /// - Parameters:
    ///   - memoryLimit: In bytes; nought keeps none there.
    ///   - store: What lies behind.
    init(memoryLimit: Int, store: (any DataCaching)?, clock: any TimeSource = SystemClock()) {
        memory = MemoryCache(limits: MemoryCacheLimits(cost: memoryLimit), clock: clock)
        self.store = store
        self.clock = clock
    }

    /// How often the store did not take one.
    var failureCount: Int { failures.withLock { $0 } }

    /// What is in memory. Does not wait.
    func quickAnswer(for key: ImageKey) -> Thumbnail? { memory.value(for: key) }

    /// What is in the store; it is in memory, too, then.
    func storedAnswer(for key: ImageKey) async -> Thumbnail? {
        guard let store, let entry = await store.entry(for: key) else { return nil }
        guard let thumbnail = Thumbnail(entry) else {
            await store.remove(key)
            return nil
        }
        keepInMemory(thumbnail, for: key)
        return thumbnail
    }

    /// Keeps it while it is fresh. Trouble with the store is counted, and no error.
    func keep(_ thumbnail: Thumbnail, for key: ImageKey) async {
        guard let entry = thumbnail.entry, keepInMemory(thumbnail, for: key), let store else { return }
        do {
            try await store.store(entry, for: key)
        } catch is CancellationError {
            return
        } catch {
            failures.withLock { $0 += 1 }
        }
    }

    func flush() async { await store?.flush() }

    /// Whether it is fresh at all.
    @discardableResult
    private func keepInMemory(_ thumbnail: Thumbnail, for key: ImageKey) -> Bool {
        guard let freshUntil = thumbnail.freshUntil else { return false }
        let life = Duration.seconds(freshUntil.timeIntervalSince(clock.now))
        guard life > .zero else { return false }
        // Keys and notes take about as much beside the bytes.
        memory.store(thumbnail, for: key, cost: thumbnail.data.count + 1024, timeToLive: life)
        return true
    }
}
