/// A policy that decides which entry a full memory cache evicts.
///
/// A policy sees neither keys nor values, only slots, costs and hashes. A slot is a small number that identifies an
/// entry: 0, 1, 2 and so on, below the largest number of entries that were stored at the same time. The cache reuses a
/// slot after its entry has left. It calls the policy under its lock, so a policy needs no lock of its own and must not
/// call other components. Every call should be O(1), amortized.
///
/// The cache keeps its limits even if a policy is wrong. If the policy returns a slot without an entry, or nil while
/// there are entries, the cache evicts an arbitrary entry and informs the policy with ``remove(_:)``.
public protocol EvictionPolicy: Sendable {
    /// Whether the policy reads ``AccessMarks`` when it chooses an entry to evict, instead of being called for each
    /// use. Default: false.
    ///
    /// With such a policy, several threads can read from the cache at the same time.
    static var readsMarks: Bool { get }

    /// Adds an entry that was stored.
    ///
    /// - Parameters:
    ///   - slot: The entry's slot. No other entry has it until this one leaves.
    ///   - hash: The hash of the key, which is the same when the key is stored again. Two keys may have the same hash.
    ///   - cost: The entry's cost, from 0 to half of `Int.max`. The total cost of all entries is at most twice that
    ///     half.
    ///   - hasRoom: Whether the entry fits without an eviction.
    ///   - marks: The uses that the cache records, for a policy that reads them.
    mutating func insert(_ slot: Int, hash: UInt64, cost: Int, hasRoom: Bool, marks: AccessMarks)

    /// Records that an entry was read, or stored again at the same cost. Never called if ``EvictionPolicy/readsMarks``
    /// is true.
    mutating func use(_ slot: Int)

    /// Removes an entry. The cache calls this when an entry is removed or replaced, expires, or is evicted without the
    /// policy's choice.
    mutating func remove(_ slot: Int)

    /// Chooses the entry to evict next and forgets it. Returns its slot, or nil if there are no entries.
    ///
    /// The policy may choose the entry that was inserted last, to reject it as not worth its cost. The cache then
    /// counts it as rejected, not as stored and evicted.
    mutating func evict(marks: AccessMarks) -> Int?

    /// Forgets all entries, including past ones.
    mutating func removeAll()
}

extension EvictionPolicy {
    public static var readsMarks: Bool { false }
    public mutating func use(_ slot: Int) {}
}
