/// A policy that decides which entry a full memory cache evicts.
///
/// ```swift
/// import AlcedoMemoryCache
///
/// /// Evicts the most recently stored entry first.
/// struct NewestFirst: EvictionPolicy {
///     private var slots: [Int] = []
///
///     mutating func insert(_ slot: Int, hash: UInt64, cost: Int, fits: Bool) { slots.append(slot) }
///     mutating func use(_ slot: Int) {}
///     mutating func remove(_ slot: Int) { slots.removeAll { $0 == slot } }
///     mutating func evict() -> Int? { slots.popLast() }
///     mutating func removeAll() { slots = [] }
/// }
///
/// let cache = MemoryCache<String, [UInt8]>(costLimit: 1 << 20, policy: .custom(NewestFirst()))
/// ```
///
/// A policy sees neither keys nor values, only slots, costs and hashes. A slot is a small number that identifies an
/// entry: 0, 1, 2 and so on, below the largest number of entries that were stored at the same time. The cache reuses a
/// slot after its entry has left. It calls the policy under its lock, so a policy needs no lock of its own and must not
/// call other components. Every call should be O(1), amortized.
///
/// The cache keeps its limits even if a policy is wrong. If the policy returns a slot without an entry, or returns nil
/// although there are entries, the cache evicts an arbitrary entry and informs the policy with ``remove(_:)``.
public protocol EvictionPolicy: Sendable {
    /// Adds an entry that was stored.
    ///
    /// - Parameters:
    ///   - slot: The entry's slot. No other entry has this slot until this entry leaves the cache.
    ///   - hash: The hash of the key, which is the same when the key is stored again. Two keys may have the same hash.
    ///   - cost: The entry's cost, from 0 to half of `Int.max`. The total cost of all entries does not exceed
    ///     `Int.max`.
    ///   - fits: Whether the entry fits without an eviction.
    mutating func insert(_ slot: Int, hash: UInt64, cost: Int, fits: Bool)

    /// Records that an entry was read, or stored again at the same cost. Each read calls this under the lock, so the
    /// reads of a cache with a custom policy do not run at the same time.
    mutating func use(_ slot: Int)

    /// Removes an entry. The cache calls this when an entry is removed, expires, is replaced by a value of another
    /// cost, or is evicted although the policy did not choose it.
    mutating func remove(_ slot: Int)

    /// Chooses the entry to evict next and forgets it. Returns its slot, or nil if there are no entries.
    ///
    /// The policy rejects the entry that was inserted last by choosing that entry. The cache then counts a failed store
    /// instead of a store and an eviction.
    mutating func evict() -> Int?

    /// Forgets all entries, including evicted entries that the policy remembers.
    mutating func removeAll()
}

/// The interface between a cache and its eviction policy. It lets the policy read the uses that the cache records.
///
/// A requirement that is also in ``EvictionPolicy`` has the same meaning in this protocol.
@usableFromInline
protocol MarkedEvictionPolicy: Sendable {
    /// Whether the policy reads ``AccessMarks`` when it chooses an entry to evict, instead of being called for each
    /// use. Default: false.
    ///
    /// With such a policy, several threads can read from the cache at the same time.
    static var readsMarks: Bool { get }

    /// Adds an entry that was stored. `marks` contains the uses that the cache records.
    mutating func insert(_ slot: Int, hash: UInt64, cost: Int, fits: Bool, marks: AccessMarks)

    /// Records that an entry was read, or stored again at the same cost. Never called if ``readsMarks`` is true.
    mutating func use(_ slot: Int)

    mutating func remove(_ slot: Int)

    mutating func evict(marks: AccessMarks) -> Int?

    mutating func removeAll()

    /// The slots of all entries, the least recently used first, if the policy records this order. With nil, the marks
    /// give the order. Default: nil. O(number of entries).
    var slotsByUse: [Int]? { get }
}

extension MarkedEvictionPolicy {
    @usableFromInline static var readsMarks: Bool { false }
    @usableFromInline var slotsByUse: [Int]? { nil }
    @usableFromInline mutating func use(_ slot: Int) {}
}

/// A custom policy, which is called for each use and reads no marks.
struct UnmarkedPolicy: MarkedEvictionPolicy {
    private var policy: any EvictionPolicy

    init(_ policy: any EvictionPolicy) { self.policy = policy }

    mutating func insert(_ slot: Int, hash: UInt64, cost: Int, fits: Bool, marks: AccessMarks) {
        policy.insert(slot, hash: hash, cost: cost, fits: fits)
    }

    mutating func use(_ slot: Int) { policy.use(slot) }

    mutating func remove(_ slot: Int) { policy.remove(slot) }

    mutating func evict(marks: AccessMarks) -> Int? { policy.evict() }

    mutating func removeAll() { policy.removeAll() }
}
