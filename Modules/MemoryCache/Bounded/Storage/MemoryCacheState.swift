public import AlcedoCore
public import Synchronization

/// What a memory cache's lock guards. `@unchecked` because of a pointer into ``marks``, which lives as long.
@usableFromInline
struct MemoryCacheState<Key: Hashable & Sendable, Value: Sendable>: @unchecked Sendable {
    @usableFromInline typealias Eviction = RemovedEntry<Key, Value>

    @usableFromInline var table: EntryTable<Key, Value>
    @usableFromInline var policy: any EvictionPolicy
    /// The cost that a purge evicts to; nil for the limit.
    @usableFromInline let preferredCost: Int?
    @usableFromInline var marks = AccessMarks()
    /// Of ``marks``, for readers.
    @usableFromInline var markBase: UnsafeMutablePointer<Atomic<UInt64>>
    /// nil when evicted values are not looked for.
    @usableFromInline var weak: WeakValueTable<Key, Value>?
    /// How many values were stored. Uses are told apart by it.
    @usableFromInline var tick: UInt64 = 1
    @usableFromInline var statistics = MemoryCacheStatistics()
    /// Above the place of the slot that is looked at next for being too old.
    @usableFromInline var sweepPosition = 0

    @inlinable
    init(hasGroups: Bool, policy: MemoryCachePolicy, isWeak: Bool) {
        table = EntryTable(hasGroups: hasGroups)
        self.policy = policy.makePolicy()
        preferredCost = policy.preferredCost
        markBase = marks.marks
        weak = isWeak ? WeakValueTable() : nil
    }

    /// Stores a value that the limits admit, and lets others go for it.
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
                recordUse(of: slot, stamp: tick << 8 | 0xFF)
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
            hasRoom: table.totalCost <= limits.effectiveCost && table.count <= limits.countLimit, marks: marks)
        evict(limits, insertedSlot: slot, into: &releases)
        // Nothing else can have taken the slot meanwhile.
        guard table.slots.contains(slot) else {
            recordRejection(value, for: key, cost: cost, expiration: expiration, into: &releases)
            return false
        }
        statistics.recordStore(cost: cost)
        return true
    }

    /// Does not store a value, and lets go what stands under its key.
    ///
    /// - Parameter isTooOld: Else it is still found for as long as somebody holds it, and no longer than it lives.
    @inlinable
    mutating func reject(
        _ value: Value, for key: Key, hash: Int, cost: Int, expiration: EntryExpiration, isTooOld: Bool,
        into releases: inout PendingReleases<Key, Value>
    ) {
        weak?.forget(key)
        if let slot = table.slot(of: key, hash: hash) { remove(slot, .replaced, into: &releases) }
        if isTooOld {
            statistics.recordRejection(cost: cost)
        } else {
            recordRejection(value, for: key, cost: cost, expiration: expiration, into: &releases)
        }
    }

    /// Lets entries go until both limits hold.
    ///
    /// - Parameter insertedSlot: Of the entry being stored. When it is evicted, it is neither counted nor reported.
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

    /// Evicts half: of the cost, or of the entries where they cost nothing. By the policy, or by priority where
    /// entries differ in it.
    @inlinable
    mutating func halve(into releases: inout PendingReleases<Key, Value>) {
        let (cost, count) = (table.totalCost, table.count)
        let (costToKeep, countToKeep) = (cost / 2, cost == 0 ? count / 2 : count)
        if !table.priorities.isEmpty { purge(toCost: costToKeep, count: countToKeep, into: &releases) }
        trim(toCost: costToKeep, count: countToKeep, into: &releases)
    }

    /// Evicts entries in the order of their priorities and, among equals, of their last uses. O(n log n).
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

    /// Takes everything out, and the memory for it. What is trimmed stays to be found while it is held; what is removed
    /// does not. O(1); with a weak level, O(number of entries) to trim. Returns how many entries there were.
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
                    value, for: key, expiration: table.entries[slot].expiration, examined: &releases.examined)
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

    /// Removes what is too old. O(number of entries) when any can be.
    @inlinable
    mutating func removeExpired(at now: Int64, into releases: inout PendingReleases<Key, Value>) {
        weak?.forget(olderThan: now)
        guard table.expiringCount > 0 else { return }
        sweepPosition = table.count
        sweep(table.count, at: now, into: &releases)
    }

    /// Records a use under the exclusive lock. Every policy's entries are marked, because ``purge(toCost:count:into:)``
    /// goes by the marks.
    @inlinable
    mutating func recordUse(of slot: Int, stamp: UInt64) {
        AccessMarks.record(markBase + slot, stamp: stamp)
        if !type(of: policy).readsMarks { policy.use(slot) }
    }

    /// Looks at some entries, so that what is too old goes by itself: three at each store, all within half as many stores
    /// as there are entries.
    @inlinable
    mutating func sweep(_ steps: Int = 3, at now: Int64, into releases: inout PendingReleases<Key, Value>) {
        for _ in 0..<min(steps, table.count) {
            // Downwards: what comes to the place of one that goes was looked at before, or is new.
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
            // Somebody else's policy may be wrong; the limits hold all the same.
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
        let expiration = table.entries[slot].expiration
        guard let eviction = table.remove(slot, reason: reason) else { return }
        switch reason {
        case .costLimit, .countLimit, .trimmed:
            weak?.remember(eviction.value, for: eviction.key, expiration: expiration, examined: &releases.examined)
        case .expired, .removed, .replaced: break
        }
        record(eviction, into: &releases)
    }

    /// Records a value that is not stored; it is found for as long as it is referenced elsewhere.
    @inlinable
    mutating func recordRejection(
        _ value: Value, for key: Key, cost: Int, expiration: EntryExpiration,
        into releases: inout PendingReleases<Key, Value>
    ) {
        statistics.recordRejection(cost: cost)
        weak?.remember(value, for: key, expiration: expiration, examined: &releases.examined)
    }

    @inlinable
    mutating func record(_ eviction: Eviction, into releases: inout PendingReleases<Key, Value>) {
        statistics.recordEvictions(eviction.reason, count: 1, cost: eviction.cost)
        releases.evictions.append(eviction)
    }
}
