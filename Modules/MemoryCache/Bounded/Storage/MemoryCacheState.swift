public import Synchronization

/// What a memory cache's lock guards. `@unchecked` because of a pointer into ``marks``, which lives as long.
@usableFromInline
struct MemoryCacheState<Key: Hashable & Sendable, Value: Sendable>: @unchecked Sendable {
    @usableFromInline typealias Eviction = MemoryCacheEviction<Key, Value>

    @usableFromInline var table: EntryTable<Key, Value>
    @usableFromInline var policy: any EvictionPolicy
    @usableFromInline let marks = UseMarks()
    /// Of ``marks``, for readers.
    @usableFromInline var markBase: UnsafeMutablePointer<Atomic<UInt64>>
    /// nil when evicted values are not looked for.
    @usableFromInline var weak: WeakLevel<Key, Value>?
    /// How many values were stored. Uses are told apart by it.
    @usableFromInline var tick: UInt64 = 1
    @usableFromInline var statistics = MemoryCacheStatistics()
    /// The slot that is looked at next for being too old.
    @usableFromInline var sweepSlot = 0

    @inlinable
    init(hasGroups: Bool, policy: any EvictionPolicy, isWeak: Bool) {
        table = EntryTable(hasGroups: hasGroups)
        self.policy = policy
        markBase = marks.marks
        weak = isWeak ? WeakLevel() : nil
    }

    /// Stores a value that the limits admit, and lets others go for it.
    @inlinable
    mutating func store(
        _ value: Value, for key: Key, hash: Int, groupHash: Int, cost: Int, limits: MemoryCacheLimits,
        life: EntryLife, now: Int64?, into gone: inout Departures<Key, Value>
    ) -> Bool {
        tick += 1
        statistics.noteInsertion(cost: cost)
        weak?.forget(key)
        if let now { sweep(at: now, into: &gone) }
        if let slot = table.slot(of: key, hash: hash) {
            if table.entries[slot].cost == cost {
                if let old = table.replace(slot, with: value, life: life) {
                    note(Eviction(key: key, value: old, cost: cost, reason: .replaced), into: &gone)
                }
                noteUse(of: slot)
                return true
            }
            remove(slot, .replaced, into: &gone)
        }
        let slot = table.insert(value, for: key, hash: hash, groupHash: groupHash, cost: cost, life: life)
        marks.reserve(slot)
        markBase = marks.marks
        marks.reset(slot, stamp: tick << 8)
        policy.insert(
            EntrySlot(slot), hash: UInt64(bitPattern: Int64(hash)), cost: cost,
            hasRoom: table.totalCost <= limits.effectiveCost && table.count <= limits.count, marks: marks)
        evict(limits, into: &gone)
        return table.entries[slot].key != nil
    }

    /// Does not store a value, and lets go what stands under its key.
    ///
    /// - Parameter isTooOld: Else it is still found for as long as somebody holds it, and no longer than it lives.
    @inlinable
    mutating func refuse(
        _ value: Value, for key: Key, hash: Int, cost: Int, life: EntryLife, isTooOld: Bool,
        into gone: inout Departures<Key, Value>
    ) {
        weak?.forget(key)
        if let slot = table.slot(of: key, hash: hash) { remove(slot, .replaced, into: &gone) }
        statistics.noteRefusal(cost: cost)
        if !isTooOld { weak?.remember(value, for: key, life: life, lookingAt: &gone.lookedAt) }
    }

    /// Lets entries go until both limits hold.
    @inlinable
    mutating func evict(_ limits: MemoryCacheLimits, into gone: inout Departures<Key, Value>) {
        let limit = limits.effectiveCost
        if table.totalCost > limit {
            let kept = policy.costToKeep(limit: limit)
            while table.totalCost > kept, evictOne(.costLimit, into: &gone) {}
        }
        while table.count > limits.count, evictOne(.countLimit, into: &gone) {}
    }

    @inlinable
    mutating func trim(toCost cost: Int, count: Int, into gone: inout Departures<Key, Value>) {
        while table.totalCost > cost || table.count > count, evictOne(.trimmed, into: &gone) {}
    }

    @inlinable
    mutating func remove(_ slot: Int, _ reason: EvictionReason, into gone: inout Departures<Key, Value>) {
        policy.remove(EntrySlot(slot))
        leave(slot, reason, into: &gone)
    }

    /// Removes everything, the weak level too.
    @inlinable
    mutating func removeAll(into gone: inout Departures<Key, Value>) {
        for slot in 0..<table.entries.count where table.entries[slot].key != nil { leave(slot, .removed, into: &gone) }
        policy.removeAll()
        if weak != nil { weak = WeakLevel() }
    }

    /// Removes what is too old. O(number of entries) when any can be.
    @inlinable
    mutating func removeExpired(at now: Int64, into gone: inout Departures<Key, Value>) {
        weak?.forget(olderThan: now)
        guard table.mortalCount > 0 else { return }
        for slot in 0..<table.entries.count where table.isExpired(slot, at: now) { remove(slot, .expired, into: &gone) }
    }

    /// Notes a use under the exclusive lock.
    @inlinable
    mutating func noteUse(of slot: Int) {
        if type(of: policy).readsMarks {
            UseMarks.note(markBase + slot, stamp: tick << 8 | 0xFF)
        } else {
            policy.use(EntrySlot(slot))
        }
    }

    /// Looks at two slots, so that what is too old goes by itself within half as many stores as there are entries.
    @inlinable
    mutating func sweep(at now: Int64, into gone: inout Departures<Key, Value>) {
        for _ in 0..<min(2, table.entries.count) {
            sweepSlot = sweepSlot + 1 < table.entries.count ? sweepSlot + 1 : 0
            if table.isExpired(sweepSlot, at: now) { remove(sweepSlot, .expired, into: &gone) }
        }
    }

    @inlinable
    mutating func evictOne(_ reason: EvictionReason, into gone: inout Departures<Key, Value>) -> Bool {
        guard let slot = policy.evict(marks: marks) else { return false }
        leave(slot.index, reason, into: &gone)
        return true
    }

    @inlinable
    mutating func leave(_ slot: Int, _ reason: EvictionReason, into gone: inout Departures<Key, Value>) {
        let life = table.entries[slot].life
        guard let eviction = table.remove(slot, reason: reason) else { return }
        switch reason {
        case .costLimit, .countLimit, .trimmed:
            weak?.remember(eviction.value, for: eviction.key, life: life, lookingAt: &gone.lookedAt)
        case .expired, .removed, .replaced: break
        }
        note(eviction, into: &gone)
    }

    @inlinable
    mutating func note(_ eviction: Eviction, into gone: inout Departures<Key, Value>) {
        statistics.noteEviction(eviction.reason, cost: eviction.cost)
        gone.evictions.append(eviction)
    }
}
