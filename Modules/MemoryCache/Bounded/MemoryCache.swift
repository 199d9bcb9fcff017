import AlcedoCore

/// Keeps values in memory up to a cost, and lets the least recently used go first.
///
/// Synchronous and safe from any thread: no task, no actor. The lock is held for a dictionary look-up and a few index
/// changes; values that go are released outside it. A hit costs tens of nanoseconds with a key whose hash is ready.
///
/// - Complexity: O(1) for every operation, amortised over insertions for evictions.
public final class MemoryCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// Most cost, in the caller's unit, usually bytes. Nought or less stores nothing.
    public let costLimit: Int
    /// Most entries. Nought or less stores nothing.
    public let countLimit: Int

    private let list = Locked(LRUList<Key, Value>())

    /// - Parameters:
    ///   - costLimit: Most cost, in the caller's unit, usually bytes. Nought or less stores nothing.
    ///   - countLimit: Most entries. Nought or less stores nothing. Default: no limit of its own.
    public init(costLimit: Int, countLimit: Int = Int.max) {
        self.costLimit = costLimit
        self.countLimit = countLimit
    }

    /// Sum of the costs of all entries.
    public var totalCost: Int { list.withLock { $0.totalCost } }

    /// Number of entries.
    public var count: Int { list.withLock { $0.count } }

    /// Returns the value stored under `key`, and counts as a use of it.
    public func value(for key: Key) -> Value? {
        list.withLock { $0.use(key) }
    }

    /// Stores `value` under `key`, replacing what is there, and counts as a use of it.
    ///
    /// A value whose cost exceeds the whole limit is not stored and evicts nothing else; what stood under `key` goes,
    /// because it is no longer right. A negative cost counts as nought.
    ///
    /// - Returns: Whether the value is stored.
    @discardableResult
    public func store(_ value: Value, for key: Key, cost: Int) -> Bool {
        let cost = max(0, cost)
        guard cost <= costLimit, costLimit > 0, countLimit > 0 else {
            removeValue(for: key)
            return false
        }
        let (costLimit, countLimit) = (costLimit, countLimit)
        let released = list.withLock { list in
            var released: [Value] = []
            if let old = list.remove(key) { released.append(old) }
            // Room first: the sum then never exceeds the limit, and cannot overflow.
            list.trim(toCost: costLimit - cost, count: countLimit - 1, into: &released)
            list.insert(value, for: key, cost: cost)
            return released
        }
        _ = consume released
        return true
    }

    /// Removes and returns the value stored under `key`.
    @discardableResult
    public func removeValue(for key: Key) -> Value? {
        list.withLock { $0.remove(key) }
    }

    /// Removes every entry.
    public func removeAll() {
        let released = list.withLock { list in
            defer { list = LRUList() }
            return list
        }
        _ = consume released
    }

    /// Removes the least recently used entries until the rest cost at most `cost` and are at most `count`.
    public func trim(toCost cost: Int = Int.max, count: Int = Int.max) {
        let released = list.withLock { list in
            var released: [Value] = []
            list.trim(toCost: max(0, cost), count: max(0, count), into: &released)
            return released
        }
        _ = consume released
    }
}
