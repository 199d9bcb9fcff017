public import Synchronization

/// What a memory cache's lock guards. `@unchecked` because of a pointer into ``marks``, which lives as long.
@usableFromInline
struct MemoryCacheState<Key: Hashable & Sendable, Value: Sendable>: @unchecked Sendable {
    @usableFromInline typealias Eviction = MemoryCacheEviction<Key, Value>

    @usableFromInline var table: EntryTable<Key, Value>
    @usableFromInline var policy: any EvictionPolicy
    @usableFromInline var marks = AccessMarks()
    /// Of ``marks``, for readers.
    @usableFromInline var markBase: UnsafeMutablePointer<Atomic<UInt64>>
    /// nil when evicted values are not looked for.
    @usableFromInline var weak: WeakLevel<Key, Value>?
    /// How many values were stored. Uses are told apart by it.
    @usableFromInline var tick: UInt64 = 1
    @usableFromInline var statistics = MemoryCacheStatistics()
    /// Above the place of the slot that is looked at next for being too old.
    @usableFromInline var sweepPlace = 0

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
        life: EntryLife, priority: PurgePriority, now: Int64?, into gone: inout PendingReleases<Key, Value>
    ) -> Bool {
        tick += 1
        weak?.forget(key)
        if let now { sweep(at: now, into: &gone) }
        if let slot = table.slot(of: key, hash: hash) {
            if table.entries[slot].cost == cost {
                if let old = table.replace(slot, with: value, life: life) {
                    note(Eviction(key: key, value: old, cost: cost, reason: .replaced), into: &gone)
                }
                table.setPriority(priority, of: slot)
                noteUse(of: slot, stamp: tick << 8 | 0xFF)
                statistics.noteInsertion(cost: cost)
                return true
            }
            remove(slot, .replaced, into: &gone)
        }
        let slot = table.insert(value, for: key, hash: hash, groupHash: groupHash, cost: cost, life: life)
        table.setPriority(priority, of: slot)
        marks.reserve(slot)
        markBase = marks.marks
        marks.reset(slot, stamp: tick << 8)
        policy.insert(
            EntrySlot(slot), hash: UInt64(bitPattern: Int64(hash)), cost: cost,
            hasRoom: table.totalCost <= limits.effectiveCost && table.count <= limits.countLimit, marks: marks)
        evict(limits, newcomer: slot, into: &gone)
        // Nothing else can have taken the slot meanwhile.
        guard table.slots.contains(slot) else {
            noteRefusal(value, for: key, cost: cost, life: life, into: &gone)
            return false
        }
        statistics.noteInsertion(cost: cost)
        return true
    }

    /// Does not store a value, and lets go what stands under its key.
    ///
    /// - Parameter isTooOld: Else it is still found for as long as somebody holds it, and no longer than it lives.
    @inlinable
    mutating func refuse(
        _ value: Value, for key: Key, hash: Int, cost: Int, life: EntryLife, isTooOld: Bool,
        into gone: inout PendingReleases<Key, Value>
    ) {
        weak?.forget(key)
        if let slot = table.slot(of: key, hash: hash) { remove(slot, .replaced, into: &gone) }
        if isTooOld {
            statistics.noteRefusal(cost: cost)
        } else {
            noteRefusal(value, for: key, cost: cost, life: life, into: &gone)
        }
    }

    /// Lets entries go until both limits hold.
    ///
    /// - Parameter newcomer: An entry that, when it goes, was never in: neither counted nor reported.
    @inlinable
    mutating func evict(_ limits: MemoryCacheLimits, newcomer: Int, into gone: inout PendingReleases<Key, Value>) {
        let limit = limits.effectiveCost
        if table.totalCost > limit {
            let kept = min(limit, max(0, policy.costToKeep(limit: limit)))
            while table.totalCost > kept, evictOne(.costLimit, newcomer: newcomer, into: &gone) {}
        }
        while table.count > limits.countLimit, evictOne(.countLimit, newcomer: newcomer, into: &gone) {}
    }

    @inlinable
    mutating func trim(toCost cost: Int, count: Int, into gone: inout PendingReleases<Key, Value>) {
        while count > 0, table.totalCost > cost || table.count > count, evictOne(.trimmed, into: &gone) {}
        if count == 0 || table.count == 0 { removeAll(.trimmed, into: &gone) }
    }

    /// Evicts half: of the cost, or of the entries where they cost nothing. By the policy, or by priority where
    /// entries differ in it.
    @inlinable
    mutating func halve(into gone: inout PendingReleases<Key, Value>) {
        let (cost, count) = (table.totalCost, table.count)
        let (costToKeep, countToKeep) = (cost / 2, cost == 0 ? count / 2 : count)
        if !table.priorities.isEmpty { purge(toCost: costToKeep, count: countToKeep, into: &gone) }
        trim(toCost: costToKeep, count: countToKeep, into: &gone)
    }

    /// Evicts entries in the order of their priorities and, among equals, of their last uses. O(n log n).
    @inlinable
    mutating func purge(toCost cost: Int, count: Int, into gone: inout PendingReleases<Key, Value>) {
        let order = (0..<table.count).map { place in
            let slot = table.slots[place]
            return (slot: slot, priority: table.priorities[slot] ?? .normal, lastUse: marks.lastUse(EntrySlot(slot)))
        }.sorted { ($0.priority, $0.lastUse) < ($1.priority, $1.lastUse) }
        for entry in order {
            guard table.totalCost > cost || table.count > count else { return }
            remove(entry.slot, .trimmed, into: &gone)
        }
    }

    @inlinable
    mutating func remove(_ slot: Int, _ reason: EvictionReason, into gone: inout PendingReleases<Key, Value>) {
        policy.remove(EntrySlot(slot))
        leave(slot, reason, into: &gone)
    }

    /// Takes everything out, and the memory for it. What is trimmed stays to be found while it is held; what is removed
    /// does not. O(1); with a weak level, O(number of entries) to trim. Returns how many entries there were.
    @inlinable
    @discardableResult
    mutating func removeAll(_ reason: EvictionReason, into gone: inout PendingReleases<Key, Value>) -> Int {
        let count = table.count
        let forgotten = reason == .trimmed ? nil : weak
        if forgotten != nil { weak = WeakLevel() }
        let retired = RetiredEntries(table: table, reason: reason, policy: policy, marks: marks, weak: forgotten)
        if weak != nil, reason == .trimmed {
            for place in 0..<count {
                let slot = table.slots[place]
                guard let key = table.entries[slot].key, let value = table.entries[slot].value else { continue }
                weak?.remember(value, for: key, life: table.entries[slot].life, lookingAt: &gone.lookedAt)
            }
        }
        statistics.noteEvictions(reason, count: count, cost: table.totalCost)
        gone.retired.append(retired)
        policy.removeAll()
        table = EntryTable(hasGroups: table.groups != nil)
        marks = AccessMarks()
        markBase = marks.marks
        sweepPlace = 0
        return count
    }

    /// Removes what is too old. O(number of entries) when any can be.
    @inlinable
    mutating func removeExpired(at now: Int64, into gone: inout PendingReleases<Key, Value>) {
        weak?.forget(olderThan: now)
        guard table.mortalCount > 0 else { return }
        sweepPlace = table.count
        sweep(table.count, at: now, into: &gone)
    }

    /// Notes a use under the exclusive lock. Every policy's entries are marked, because ``purge(toCost:count:into:)``
    /// goes by the marks.
    @inlinable
    mutating func noteUse(of slot: Int, stamp: UInt64) {
        AccessMarks.note(markBase + slot, stamp: stamp)
        if !type(of: policy).readsMarks { policy.use(EntrySlot(slot)) }
    }

    /// Looks at some entries, so that what is too old goes by itself: three at each store, all within half as many stores
    /// as there are entries.
    @inlinable
    mutating func sweep(_ steps: Int = 3, at now: Int64, into gone: inout PendingReleases<Key, Value>) {
        for _ in 0..<min(steps, table.count) {
            // Downwards: what comes to the place of one that goes was looked at before, or is new.
            sweepPlace = (sweepPlace > 0 && sweepPlace <= table.count ? sweepPlace : table.count) - 1
            let slot = table.slots[sweepPlace]
            if table.isExpired(slot, at: now) { remove(slot, .expired, into: &gone) }
        }
    }

    @inlinable
    mutating func evictOne(
        _ reason: EvictionReason, newcomer: Int = -1, into gone: inout PendingReleases<Key, Value>
    ) -> Bool {
        guard table.count > 0 else { return false }
        var slot = policy.evict(marks: marks)?.index ?? -1
        if !table.slots.contains(slot) {
            // Somebody else's policy may be wrong; the limits hold all the same.
            slot = table.slots[0]
            policy.remove(EntrySlot(slot))
        }
        guard slot != newcomer else {
            _ = table.remove(slot, reason: reason)
            return true
        }
        leave(slot, reason, into: &gone)
        return true
    }

    @inlinable
    mutating func leave(_ slot: Int, _ reason: EvictionReason, into gone: inout PendingReleases<Key, Value>) {
        let life = table.entries[slot].life
        guard let eviction = table.remove(slot, reason: reason) else { return }
        switch reason {
        case .costLimit, .countLimit, .trimmed:
            weak?.remember(eviction.value, for: eviction.key, life: life, lookingAt: &gone.lookedAt)
        case .expired, .removed, .replaced: break
        }
        note(eviction, into: &gone)
    }

    /// Notes a value that is not stored; it is found for as long as somebody holds it.
    @inlinable
    mutating func noteRefusal(
        _ value: Value, for key: Key, cost: Int, life: EntryLife, into gone: inout PendingReleases<Key, Value>
    ) {
        statistics.noteRefusal(cost: cost)
        weak?.remember(value, for: key, life: life, lookingAt: &gone.lookedAt)
    }

    @inlinable
    mutating func note(_ eviction: Eviction, into gone: inout PendingReleases<Key, Value>) {
        statistics.noteEvictions(eviction.reason, count: 1, cost: eviction.cost)
        gone.evictions.append(eviction)
    }
}
