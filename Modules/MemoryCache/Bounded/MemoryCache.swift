public import AlcedoCore
public import AlcedoRuntime
import Synchronization

/// Keeps values in memory within limits, and lets a ``MemoryCachePolicy`` choose what to evict.
///
/// Synchronous and safe from any thread: no task, no actor, no timer. Several threads read at once where the policy allows
/// it, as the default one does. The lock is held for a few memory accesses; values are released, and the listener is
/// called, outside it, so both may call the cache. Keys are compared, and weak references asked, under the lock: `==` of
/// `Key` and ``WeaklyReferenceable/weakReference`` must not call the cache, and should be quick.
///
/// The time of entries is the clock's uptime. What is too old is never returned; it goes when it is asked for, when its
/// turn comes in the look that each store takes at three entries, or with ``removeExpired()``.
///
/// - Complexity: O(1) for every operation, amortised over stores, unless it says otherwise.
public final class MemoryCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// Readers that do not meet: more than that many threads at once are rare, and each makes a store dearer.
    @inlinable
    static var mostLanes: Int { 8 }

    /// What it holds at most.
    public let limits: MemoryCacheLimits

    @usableFromInline let lock: ReadMostlyLock<MemoryCacheState<Key, Value>, ReaderNotes>
    @usableFromInline let readsMarks: Bool
    @usableFromInline let findsReferencedValues: Bool
    @usableFromInline let clock: any TimeSource
    @usableFromInline let groupHash: (@Sendable (Key) -> Int)?
    @usableFromInline let reporter: EvictionReporter<Key, Value>
    @usableFromInline let pressure = Locked<(any Sendable)?>(nil)

    /// - Parameters:
    ///   - limits: Default: see ``MemoryCacheLimits/init(costLimit:countLimit:entryCostLimit:timeToLive:extendsLifeOnUse:)``.
    ///   - policy: Default: ``MemoryCachePolicy/adaptive``.
    ///   - findsReferencedValues: Whether a value that was evicted, or was too costly to store, is still found for as long as
    ///     somebody else holds it. It then costs nothing, and is not stored again by being found. Takes values that are
    ///     ``WeaklyReferenceable``. What was removed, replaced or too old is not found. Default: false.
    ///   - pressureSource: At a change to warning the cache lets half of what it holds go, to critical everything; the
    ///     values that are only referenced elsewhere stay. Default: nil.
    ///   - clock: Default: the system's.
    ///   - onEviction: Called for each entry that has left, outside the lock, on the thread whose call made it leave,
    ///     before that call returns. It may call the cache; what leaves by that is reported when it has returned, in the
    ///     order in which it left, so it is never called within itself on one thread. A listener that always makes
    ///     another entry leave keeps the first call from ever returning. Threads that evict at the same time call at the
    ///     same time.
    @inlinable
    public init(
        limits: MemoryCacheLimits = MemoryCacheLimits(),
        policy: MemoryCachePolicy = .adaptive,
        findsReferencedValues: Bool = false,
        pressureSource: (any MemoryPressureSource)? = nil,
        clock: any TimeSource = SystemClock(),
        onEviction: (@Sendable (MemoryCacheEviction<Key, Value>) -> Void)? = nil
    ) {
        self.limits = limits
        self.clock = clock
        reporter = EvictionReporter(onEviction)
        let policy = policy.policy
        readsMarks = type(of: policy).readsMarks
        self.findsReferencedValues = findsReferencedValues
        groupHash = Self.groupHash()
        let state = MemoryCacheState<Key, Value>(
            hasGroups: groupHash != nil, policy: policy, isWeak: findsReferencedValues)
        lock = ReadMostlyLock(state, notes: ReaderNotes(), laneCount: readsMarks ? Self.mostLanes : 1)
        guard let pressureSource else { return }
        let token = pressureSource.observe { [weak self] in self?.respond(to: $0) }
        pressure.withLock { $0 = token }
    }

    /// - Parameters:
    ///   - costLimit: Most cost, in the caller's unit, usually bytes. Nought or less stores nothing.
    ///   - countLimit: Most entries. Nought or less stores nothing. Default: no limit of its own.
    ///   - policy: Default: ``MemoryCachePolicy/adaptive``.
    @inlinable
    public convenience init(costLimit: Int, countLimit: Int = .max, policy: MemoryCachePolicy = .adaptive) {
        self.init(limits: MemoryCacheLimits(costLimit: costLimit, countLimit: countLimit), policy: policy)
    }

    /// Sum of the costs of all entries.
    @inlinable
    public var totalCost: Int { lock.withSharedLock { state, _ in state.pointee.table.totalCost } }

    /// Number of entries.
    @inlinable
    public var count: Int { lock.withSharedLock { state, _ in state.pointee.table.slots.count } }

    /// What the cache has done so far.
    @inlinable
    public var statistics: MemoryCacheStatistics {
        lock.withEverything { state, lanes in
            var statistics = state.statistics
            for notes in lanes {
                statistics.noteLookups(
                    hits: notes.hits, cost: notes.hitCost, misses: notes.misses, weakHits: notes.weakHits)
            }
            return statistics
        }
    }

    /// Returns the value stored under `key`, and counts as a use of it.
    @inlinable
    public func value(for key: Key) -> Value? {
        let hash = key.hashValue
        // Never read under the lock; at once only where every entry has a time.
        let now = limits.timeToLive == nil ? nil : time
        guard readsMarks else { return valueAlone(for: key, hash: hash, at: now) }
        var lookUp = LookUp.done
        let value = valueAmongReaders(for: key, hash: hash, at: now, &lookUp)
        return lookUp == .done ? value : valueWithTime(for: key, hash: hash)
    }

    /// Looks up while other threads may do so too.
    ///
    /// - Parameters:
    ///   - now: nil when it was not read.
    ///   - lookUp: What it could not do; then nothing was done.
    @inlinable @inline(__always)
    func valueAmongReaders(for key: Key, hash: Int, at now: Int64?, _ lookUp: inout LookUp) -> Value? {
        lock.withSharedLock { (state, notes) -> Value? in
            let reader = EntryReader(state)
            guard let slot = reader.slot(of: key, hash: hash) else {
                let held = findsReferencedValues ? state.pointee.weak?.value(for: key, at: now, &lookUp) : nil
                return lookUp == .done ? notes.missed(held) : nil
            }
            let deadline = reader.deadline(of: slot)
            if deadline < .max {
                guard let now, now < deadline else {
                    lookUp = now == nil ? .needsTime : .needsToWrite
                    return nil
                }
                reader.extendLife(of: slot, from: now)
            }
            notes.found(reader.entries[slot].cost)
            AccessMarks.note(reader.marks + slot, stamp: notes.stamp(at: reader.tick))
            return reader.entries[slot].value
        }
    }

    /// Looks up what has a deadline.
    @inlinable @inline(never)
    func valueWithTime(for key: Key, hash: Int) -> Value? {
        let now = time
        var lookUp = LookUp.done
        let value = valueAmongReaders(for: key, hash: hash, at: now, &lookUp)
        return lookUp == .done ? value : valueAlone(for: key, hash: hash, at: now)
    }

    /// Looks up where the policy must know at once, or the entry is too old.
    @inlinable
    func valueAlone(for key: Key, hash: Int, at now: Int64?) -> Value? {
        var lookUp = LookUp.done
        let value = valueAlone(for: key, hash: hash, at: now, &lookUp)
        return lookUp == .done ? value : valueAlone(for: key, hash: hash, at: time, &lookUp)
    }

    /// - Parameter lookUp: Set when `now` is nil and needed; then nothing was done.
    @inlinable
    func valueAlone(for key: Key, hash: Int, at now: Int64?, _ lookUp: inout LookUp) -> Value? {
        var gone = PendingReleases<Key, Value>()
        let value = lock.withLock { (state, notes) -> Value? in
            guard let slot = state.table.slot(of: key, hash: hash) else {
                guard findsReferencedValues else { return notes.missed(nil) }
                guard let now else {
                    let held = state.weak?.value(for: key, at: nil, &lookUp)
                    return lookUp == .done ? notes.missed(held) : nil
                }
                return notes.missed(state.weak?.value(for: key, at: now))
            }
            if state.table.entries[slot].life.isMortal {
                guard let now else {
                    lookUp = .needsTime
                    return nil
                }
                guard !state.table.isExpired(slot, at: now) else {
                    state.remove(slot, .expired, into: &gone)
                    return notes.missed(nil)
                }
                state.table.entries[slot].life.extend(from: now)
            }
            notes.found(state.table.entries[slot].cost)
            // Alone, one lane's stamps are in order; behind those of several lanes comes the last of the tick.
            state.noteUse(of: slot, stamp: readsMarks ? state.tick << 8 | 0xFF : notes.stamp(at: state.tick))
            return state.table.entries[slot].value
        }
        report(gone)
        return value
    }

    /// Whether a value is stored under `key`. Not a use, and not counted. A value that is only held elsewhere is not stored,
    /// though ``value(for:)`` may find it.
    @inlinable
    public func contains(_ key: Key) -> Bool {
        let hash = key.hashValue
        let deadline = lock.withSharedLock { (state, _) -> Int64? in
            let reader = EntryReader(state)
            return reader.slot(of: key, hash: hash).map { reader.deadline(of: $0) }
        }
        return deadline.map { $0 == .max || $0 > time } ?? false
    }

    /// Stores `value` under `key`, replacing what is there, and counts as a use of it.
    ///
    /// A value whose cost exceeds a limit, or whose time is over already, is not stored and evicts nothing else; what stood
    /// under `key` goes, because it is no longer right. A negative cost counts as nought.
    ///
    /// - Parameters:
    ///   - value: What is kept.
    ///   - key: What it is found under.
    ///   - cost: In the unit of the limits, usually bytes.
    ///   - timeToLive: How long it lives; nil for as long as the limits say. Nought or less: its time is over.
    ///   - priority: When it goes while memory is short. Other than normal, it costs some 40 bytes. Default: normal.
    /// - Returns: Whether the value is stored. A policy may refuse it, and the listener is not told: it was never in.
    @discardableResult
    @inlinable
    public func store(
        _ value: Value, for key: Key, cost: Int, timeToLive: Duration? = nil, priority: PurgePriority = .normal
    ) -> Bool {
        let (cost, hash) = (max(0, cost), key.hashValue)
        let span = (timeToLive ?? limits.timeToLive).map(CacheTime.units)
        let now = span != nil || mayExpire ? time : nil
        let life = span.map { EntryLife(from: now ?? 0, for: $0, isExtendedByUse: limits.extendsLifeOnUse) }
        let isTooOld = (span ?? .max) <= 0
        var gone = PendingReleases<Key, Value>()
        let isStored = lock.withLock { (state, _) -> Bool in
            guard limits.admits(cost: cost), !isTooOld else {
                state.refuse(
                    value, for: key, hash: hash, cost: cost, life: life ?? EntryLife(), isTooOld: isTooOld, into: &gone)
                return false
            }
            return state.store(
                value, for: key, hash: hash, groupHash: groupHash?(key) ?? 0, cost: cost, limits: limits,
                life: life ?? EntryLife(), priority: priority, now: now, into: &gone)
        }
        report(gone)
        return isStored
    }

    /// Removes and returns the value stored under `key`. One that is too old is removed, not returned; one that is only
    /// held elsewhere is forgotten, not returned.
    @discardableResult
    @inlinable
    public func removeValue(for key: Key) -> Value? {
        let (hash, now) = (key.hashValue, mayExpire ? time : .min)
        var gone = PendingReleases<Key, Value>()
        lock.withLock { state, _ in
            state.weak?.forget(key)
            guard let slot = state.table.slot(of: key, hash: hash) else { return }
            state.remove(slot, state.table.isExpired(slot, at: now) ? .expired : .removed, into: &gone)
        }
        report(gone)
        return gone.evictions.first { $0.reason == .removed }?.value
    }

    /// Removes every entry, with the memory that the cache has for them, and forgets what is held weakly. The lock is held
    /// for O(1); reporting and releasing are O(number of entries).
    @inlinable
    public func removeAll() { removeEverything() }

    /// Returns how many entries there were.
    @inlinable
    @discardableResult
    func removeEverything() -> Int {
        var gone = PendingReleases<Key, Value>()
        let count = lock.withLock { state, _ in state.removeAll(.removed, into: &gone) }
        report(gone)
        return count
    }

    /// Removes what is too old. O(number of entries), if any of them has a time.
    @inlinable
    public func removeExpired() {
        let now = time
        var gone = PendingReleases<Key, Value>()
        lock.withLock { state, _ in state.removeExpired(at: now, into: &gone) }
        report(gone)
    }

    /// Lets the least useful entries go until the rest cost at most `cost` and are at most `count`. When nothing is
    /// left, the memory that the cache had for it goes as well, and the policy begins anew.
    ///
    /// - Complexity: O(number of entries that go).
    @inlinable
    public func trim(toCost cost: Int = .max, count: Int = .max) {
        var gone = PendingReleases<Key, Value>()
        lock.withLock { state, _ in state.trim(toCost: max(0, cost), count: max(0, count), into: &gone) }
        report(gone)
    }

    /// Reacts to a shortage of memory. At a warning half goes: of the cost, or of the entries where they cost
    /// nothing. The policy chooses or, where entries have a ``PurgePriority`` other than normal, those of lower
    /// priority go first, and among equals the least recently used. At critical pressure everything goes, with the
    /// memory that the cache has for it, and what the process has free is given back to the system.
    ///
    /// - Complexity: O(number of entries that go); with priorities O(n log n) for n entries.
    ///
    /// A source calls this when the level changes, so a warning that lasts halves the cache once.
    @usableFromInline package func respond(to level: MemoryPressure) {
        switch level {
        case .normal: break
        case .warning:
            var gone = PendingReleases<Key, Value>()
            lock.withLock { state, _ in state.halve(into: &gone) }
            report(gone)
        case .critical:
            trim(count: 0)
            // What the cache alone held is gone only now.
            sweepHeld()
            SystemMemory.giveBackFree()
        }
    }

    /// Forgets the values of the weak level that nobody holds any more. O(number of those it knows).
    func sweepHeld() {
        var gone = PendingReleases<Key, Value>()
        lock.withLock { state, _ in state.weak?.sweep(lookingAt: &gone.lookedAt) }
        withExtendedLifetime(gone) {}
    }

    /// Keys, values and costs of all entries that are not too old, in no order. Not a use. O(number of entries).
    @inlinable
    package var entries: [(key: Key, value: Value, cost: Int)] {
        let now = time
        return lock.withSharedLock { state, _ in
            let reader = EntryReader(state)
            return (0..<state.pointee.table.slots.count).compactMap { place in
                let slot = Int(state.pointee.table.slots.row[place])
                guard let key = reader.entries[slot].key, let value = reader.entries[slot].value,
                    now < reader.deadline(of: slot)
                else { return nil }
                return (key, value, reader.entries[slot].cost)
            }
        }
    }

    /// Removes the entries of a group for which `isMember` holds. O(number of entries whose group has that hash).
    @inlinable
    func removeGroup(_ hash: Int, where isMember: (Key) -> Bool) -> Int {
        var gone = PendingReleases<Key, Value>()
        lock.withLock { state, _ in
            for slot in state.table.slots(ofGroup: hash) where state.table.entries[slot].key.map(isMember) == true {
                state.remove(slot, .removed, into: &gone)
            }
            state.weak?.forgetAll(where: isMember)
        }
        report(gone)
        return gone.evictions.count
    }

    @inlinable
    var mayExpire: Bool { lock.withSharedLock { state, _ in state.pointee.table.mortalCount > 0 } }

    /// In the units of ``CacheTime``.
    @inlinable
    var time: Int64 { CacheTime.units(clock.uptime) }

    @inlinable
    func report(_ gone: PendingReleases<Key, Value>) { reporter.report(gone) }

    /// nil when keys have no groups.
    @inlinable
    static func groupHash() -> (@Sendable (Key) -> Int)? {
        func hash<Grouped: GroupedKey>(of type: Grouped.Type) -> @Sendable (Key) -> Int {
            { ($0 as? Grouped)?.groupHash ?? 0 }
        }
        return (Key.self as? any GroupedKey.Type).map { hash(of: $0) }
    }
}

extension MemoryCache where Key: GroupedKey {
    /// Removes all entries of a group. Returns how many that were. O(their number), and of what is weakly held.
    @discardableResult
    package func removeGroup(_ group: Key.Group) -> Int {
        removeGroup(group.hashValue) { $0.group == group }
    }
}

extension MemoryCache where Key == ImageKey {
    /// Removes the original and every variant of a resource. Returns the number of removed entries. O(their number), and
    /// of the values that are only referenced elsewhere.
    @discardableResult
    public func removeAll(of resource: ResourceKey) -> Int { removeGroup(resource) }
}
