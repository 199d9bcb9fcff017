/// Decides which entry goes when a memory cache is full.
///
/// A policy sees no keys and no values: only slots, costs and hashes. A slot is a small number that stands for an entry:
/// 0, 1, 2 and so on, below the largest number of entries that there have been at once. It is reused when its entry has
/// left. The cache calls the policy under its lock, so a policy needs none; it must not call out. Every call should be
/// O(1), amortised.
///
/// The limits hold whatever a policy says: when it returns a slot of no entry, or nil while there are entries,
/// the cache evicts any entry, and tells the policy by ``remove(_:)``.
public protocol EvictionPolicy: Sendable {
    /// Whether the policy looks at ``AccessMarks`` when something must go, rather than being told of each use.
    ///
    /// A cache whose policy does so lets several threads read at once.
    static var readsMarks: Bool { get }

    /// An entry was stored.
    ///
    /// - Parameters:
    ///   - slot: Of the entry; no other entry has it until this one leaves.
    ///   - hash: Of the key; the same when that key is stored again. Two keys may share one.
    ///   - hasRoom: Whether the entry fits without another going.
    ///   - cost: At least 0, and at most half of `Int.max`. The sum over all entries is at most as much again.
    ///   - marks: Where the cache records uses, for a policy that reads them.
    mutating func insert(_ slot: Int, hash: UInt64, cost: Int, hasRoom: Bool, marks: AccessMarks)

    /// An entry was read, or stored again at the same cost. Never called when ``EvictionPolicy/readsMarks`` is true.
    mutating func use(_ slot: Int)

    /// An entry was removed by the cache's owner, or its time was over, or the cache took it by itself.
    mutating func remove(_ slot: Int)

    /// Chooses the entry that goes next, and forgets it. nil when there are none.
    ///
    /// The entry that was inserted last may be chosen: that is how a policy rejects what is not worth its cost. It
    /// then counts as rejected, not as stored and evicted.
    mutating func evict(marks: AccessMarks) -> Int?

    /// Forgets everything, what it remembers of past entries too.
    mutating func removeAll()
}

extension EvictionPolicy {
    public static var readsMarks: Bool { false }
    public mutating func use(_ slot: Int) {}
}
