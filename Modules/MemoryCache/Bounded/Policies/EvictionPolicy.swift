/// Decides which entry goes when a memory cache is full.
///
/// A policy sees no keys and no values: only slots, costs and hashes. The cache calls it under its lock, so a policy
/// needs none; it must not call out. Every call should be O(1), amortised.
///
/// The limits hold whatever a policy says: for an answer that names no entry of the cache, or none while there are some,
/// the cache takes any entry, and tells the policy by ``remove(_:)``.
public protocol EvictionPolicy: Sendable {
    /// Whether the policy looks at ``AccessMarks`` when something must go, rather than be told of each use at once.
    ///
    /// A cache whose policy does so lets several threads read at once.
    static var readsMarks: Bool { get }

    /// An entry was stored.
    ///
    /// - Parameters:
    ///   - entry: Its place, which no other entry has until it goes.
    ///   - hash: Of the key; the same when that key is stored again. Two keys may share one.
    ///   - hasRoom: Whether the entry fits without another going.
    ///   - cost: At least 0, and at most half of `Int.max`. The sum over all entries is at most as much again.
    ///   - marks: Where the cache notes uses, for a policy that reads them.
    mutating func insert(_ entry: EntrySlot, hash: UInt64, cost: Int, hasRoom: Bool, marks: AccessMarks)

    /// An entry was read, or stored again at the same cost. Never called when ``EvictionPolicy/readsMarks`` is true.
    mutating func use(_ entry: EntrySlot)

    /// An entry was removed by the cache's owner, or its time was over, or the cache took it by itself.
    mutating func remove(_ entry: EntrySlot)

    /// Chooses the entry that goes next, and forgets it. nil when there are none.
    ///
    /// The entry that was inserted last may be chosen: that is how a policy refuses what is not worth its room. It
    /// then counts as refused, not as stored and evicted.
    mutating func evict(marks: AccessMarks) -> EntrySlot?

    /// Forgets everything, what it remembers of past entries too.
    mutating func removeAll()

    /// Down to which cost entries go once their sum exceeds `limit`. Between nought and `limit`; what is beyond counts as
    /// those.
    func costToKeep(limit: Int) -> Int
}

extension EvictionPolicy {
    public static var readsMarks: Bool { false }
    public mutating func use(_ entry: EntrySlot) {}
    public func costToKeep(limit: Int) -> Int { limit }
}
