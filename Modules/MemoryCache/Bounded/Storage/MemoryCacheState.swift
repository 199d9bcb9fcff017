public import AlcedoCore
public import Synchronization

/// The state that a memory cache's lock protects.
///
/// `@unchecked` because of `markBase`, a pointer into ``marks``. Both have the same lifetime.
@usableFromInline
struct MemoryCacheState<Key: Hashable & Sendable, Value: Sendable>: @unchecked Sendable {
    @usableFromInline typealias Eviction = RemovedEntry<Key, Value>

    @usableFromInline var table: EntryTable<Key, Value>
    @usableFromInline var policy: any MarkedEvictionPolicy
    /// The maximum cost that remains after entries have exceeded the cost limit. With nil, this maximum equals the cost
    /// limit.
    @usableFromInline let preferredCost: Int?
    @usableFromInline var marks = AccessMarks()
    /// The first element of ``marks``, for lookups under the shared lock.
    @usableFromInline var markBase: UnsafeMutablePointer<Atomic<UInt64>>
    /// The weak references to evicted and rejected values; nil if the cache does not look for these.
    @usableFromInline var weak: WeakValueTable<Key, Value>?
    /// The number of stores so far, plus one. It is the high part of the stamps, which record the order of uses.
    @usableFromInline var tick: UInt64 = 1
    @usableFromInline var statistics = CacheStatistics()
    /// The position that the next sweep step checks for expiration, plus one; 0 to begin with the last position.
    @usableFromInline var sweepPosition = 0

    @inlinable
    init(hasGroups: Bool, policy: MemoryCachePolicy, isWeak: Bool) {
        table = EntryTable(hasGroups: hasGroups)
        self.policy = policy.makePolicy()
        preferredCost = policy.preferredCost
        markBase = marks.marks
        weak = isWeak ? WeakValueTable() : nil
    }

    /// Stores a value, and then evicts entries until the limits hold. The limits must admit the cost of the value.
    /// Returns false if the policy rejects the value.
    @inlinable
    mutating func store(
        _ value: Value, for key: Key, hash: Int, groupHash: Int, cost: Int, limits: MemoryCacheLimits,
        expiration: EntryExpiration, priority: PurgePriority, now: Int64?,
        into releases: inout PendingReleases<Key, Value>
    ) -> Bool {
        tick += 1
        weak?.forget(key)
        if let now { sweep(at: now, into: &releases) }
        if let slot = table.slot(of: key, hash: hash) {
            if table.entries[slot].cost == cost {
                if let old = table.replace(slot, with: value, expiration: expiration) {
                    record(Eviction(key: key, value: old, cost: cost, reason: .replaced), into: &releases)
                }
                table.setPriority(priority, of: slot)
                recordUse(of: slot, stamp: tick << 8)
                statistics.recordStore(cost: cost)
                return true
            }
            remove(slot, .replaced, into: &releases)
        }
        let slot = table.insert(value, for: key, hash: hash, groupHash: groupHash, cost: cost, expiration: expiration)
        table.setPriority(priority, of: slot)
        marks.reserve(slot)
        markBase = marks.marks
        marks.reset(slot, stamp: tick << 8)
        policy.insert(
            slot, hash: UInt64(bitPattern: Int64(hash)), cost: cost,
            fits: table.totalCost <= limits.effectiveCost && table.count <= limits.countLimit, marks: marks)
        evict(limits, insertedSlot: slot, into: &releases)
        // The slot cannot have been reused in the meantime, because this call inserts nothing else.
        guard table.slots.contains(slot) else {
            recordRejection(value, for: key, cost: cost, expiration: expiration, into: &releases)
            return false
        }
        statistics.recordStore(cost: cost)
        return true
    }

    /// Rejects a value and removes the entry under its key.
    ///
    /// A value that has not expired can still be found while another owner holds it.
    @inlinable
    mutating func reject(
        _ value: Value, for key: Key, hash: Int, cost: Int, expiration: EntryExpiration, isTooOld: Bool,
        into releases: inout PendingReleases<Key, Value>
    ) {
        weak?.forget(key)
        if let slot = table.slot(of: key, hash: hash) { remove(slot, .replaced, into: &releases) }
        if isTooOld {
            statistics.recordFailure(cost: cost)
        } else {
            recordRejection(value, for: key, cost: cost, expiration: expiration, into: &releases)
        }
    }

    /// Evicts entries until both limits hold. If the cost limit is exceeded, evicts down to the preferred cost of the
    /// policy.
    ///
    /// `insertedSlot` is the slot of the entry being stored. If the policy evicts that entry, the eviction is neither
    /// counted nor reported.
    @inlinable
    mutating func evict(
        _ limits: MemoryCacheLimits, insertedSlot: Int, into releases: inout PendingReleases<Key, Value>
    ) {
        let limit = limits.effectiveCost
        if table.totalCost > limit {
            let kept = min(limit, preferredCost ?? limit)
            while table.totalCost > kept, evictOne(.costLimit, insertedSlot: insertedSlot, into: &releases) {}
        }
        while table.count > limits.countLimit, evictOne(.countLimit, insertedSlot: insertedSlot, into: &releases) {}
    }

    @inlinable
    mutating func trim(toCost cost: Int, count: Int, into releases: inout PendingReleases<Key, Value>) {
        while count > 0, table.totalCost > cost || table.count > count, evictOne(.trimmed, into: &releases) {}
        if count == 0 || table.count == 0 { removeAll(.trimmed, into: &releases) }
    }

    /// Evicts half of the total cost, or half of the entries if they have no cost. Evicts in the order of priorities if
    /// any differs from normal, and otherwise in the order of the policy.
    @inlinable
    mutating func halve(into releases: inout PendingReleases<Key, Value>) {
        let (cost, count) = (table.totalCost, table.count)
        let (costToKeep, countToKeep) = (cost / 2, cost == 0 ? count / 2 : count)
        if !table.priorities.isEmpty { purge(toCost: costToKeep, count: countToKeep, into: &releases) }
        trim(toCost: costToKeep, count: countToKeep, into: &releases)
    }

    /// Evicts entries in the order of their priorities and, within a priority, of their last uses, until the rest cost
    /// at most `cost` and number at most `count`. O(n log n).
    @inlinable
    mutating func purge(toCost cost: Int, count: Int, into releases: inout PendingReleases<Key, Value>) {
        let order = (0..<table.count).map { position in
            let slot = table.slots[position]
            return (slot: slot, priority: table.priorities[slot] ?? .normal, lastUse: marks.lastUse(slot))
        }.sorted { ($0.priority, $0.lastUse) < ($1.priority, $1.lastUse) }
        for entry in order {
            guard table.totalCost > cost || table.count > count else { return }
            remove(entry.slot, .trimmed, into: &releases)
        }
    }

    @inlinable
    mutating func remove(_ slot: Int, _ reason: EvictionReason, into releases: inout PendingReleases<Key, Value>) {
        policy.remove(slot)
        release(slot, reason, into: &releases)
    }

    /// Removes all entries, and moves them with their memory to `releases`. Returns the number of removed entries.
    ///
    /// If `reason` is `trimmed`, the values can still be found while another owner holds them. O(1), or O(number of
    /// entries) if weak references to trimmed values are added.
    @inlinable
    @discardableResult
    mutating func removeAll(_ reason: EvictionReason, into releases: inout PendingReleases<Key, Value>) -> Int {
        let count = table.count
        let forgotten = reason == .trimmed ? nil : weak
        if forgotten != nil { weak = WeakValueTable() }
        let retired = RetiredEntries(table: table, reason: reason, policy: policy, marks: marks, weak: forgotten)
        if weak != nil, reason == .trimmed {
            for position in 0..<count {
                let slot = table.slots[position]
                guard let key = table.entries[slot].key, let value = table.entries[slot].value else { continue }
                weak?.remember(
                    value, for: key, expiration: table.expiration(of: slot), examined: &releases.examined)
            }
        }
        statistics.recordEvictions(reason, count: count, cost: table.totalCost)
        releases.retired.append(retired)
        policy.removeAll()
        table = EntryTable(hasGroups: table.groups != nil)
        marks = AccessMarks()
        markBase = marks.marks
        sweepPosition = 0
        return count
    }

    /// Removes expired entries and expired weak references. O(number of weak references); also O(number of entries) if
    /// any has a deadline.
    @inlinable
    mutating func removeExpired(at now: Int64, into releases: inout PendingReleases<Key, Value>) {
        weak?.forget(olderThan: now)
        guard table.expiringCount > 0 else { return }
        sweepPosition = table.count
        sweep(table.count, at: now, into: &releases)
    }

    /// Records a use under the exclusive lock. Sets the mark under every policy, because ``purge(toCost:count:into:)``
    /// needs the marks.
    @inlinable
    mutating func recordUse(of slot: Int, stamp: UInt64) {
        AccessMarks.record(markBase + slot, stamp: stamp)
        if !type(of: policy).readsMarks { policy.use(slot) }
    }

    /// Removes expired entries among the next `steps` entries.
    ///
    /// With the default of three steps at each store, *n* / 2 stores check all of *n* entries.
    @inlinable
    mutating func sweep(_ steps: Int = 3, at now: Int64, into releases: inout PendingReleases<Key, Value>) {
        for _ in 0..<min(steps, table.count) {
            // The position moves downwards. The entry that takes the position of a removed one was checked before or is
            // new.
            sweepPosition = (sweepPosition > 0 && sweepPosition <= table.count ? sweepPosition : table.count) - 1
            let slot = table.slots[sweepPosition]
            if table.isExpired(slot, at: now) { remove(slot, .expired, into: &releases) }
        }
    }

    @inlinable
    mutating func evictOne(
        _ reason: EvictionReason, insertedSlot: Int = -1, into releases: inout PendingReleases<Key, Value>
    ) -> Bool {
        guard table.count > 0 else { return false }
        var slot = policy.evict(marks: marks) ?? -1
        if !table.slots.contains(slot) {
            // A custom policy may return an invalid slot. The limits hold nevertheless.
            slot = table.slots[0]
            policy.remove(slot)
        }
        guard slot != insertedSlot else {
            _ = table.remove(slot, reason: reason)
            return true
        }
        release(slot, reason, into: &releases)
        return true
    }

    @inlinable
    mutating func release(_ slot: Int, _ reason: EvictionReason, into releases: inout PendingReleases<Key, Value>) {
        let expiration = table.expiration(of: slot)
        guard let eviction = table.remove(slot, reason: reason) else { return }
        switch reason {
        case .costLimit, .countLimit, .trimmed:
            weak?.remember(eviction.value, for: eviction.key, expiration: expiration, examined: &releases.examined)
        case .expired, .noSpace, .removed, .replaced: break
        }
        record(eviction, into: &releases)
    }

    /// Records the rejection of a value, which can still be found while another owner holds it.
    @inlinable
    mutating func recordRejection(
        _ value: Value, for key: Key, cost: Int, expiration: EntryExpiration,
        into releases: inout PendingReleases<Key, Value>
    ) {
        statistics.recordFailure(cost: cost)
        weak?.remember(value, for: key, expiration: expiration, examined: &releases.examined)
    }

    @inlinable
    mutating func record(_ eviction: Eviction, into releases: inout PendingReleases<Key, Value>) {
        statistics.recordEvictions(eviction.reason, count: 1, cost: eviction.cost)
        releases.evictions.append(eviction)
    }
}
