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
    static var maximumLaneCount: Int { 8 }

    /// The limits that the cache was created with.
    @usableFromInline package let limits: MemoryCacheLimits

    @usableFromInline let lock: ReadMostlyLock<MemoryCacheState<Key, Value>, LaneCounters>
    @usableFromInline let readsMarks: Bool
    @usableFromInline let findsReferencedValues: Bool
    @usableFromInline let clock: any TimeSource
    @usableFromInline let groupHash: (@Sendable (Key) -> Int)?
    @usableFromInline let reporter: EvictionReporter<Key, Value>
    @usableFromInline let pressure = Locked<(any Sendable)?>(nil)

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - costLimit: The maximum cost of all entries together, in the caller's unit, usually bytes. Zero or less stores
    ///     nothing. More than half of `Int.max` counts as that, so that sums cannot overflow. Entries that cost zero are
    ///     bounded by `countLimit` alone. Default: ``defaultCostLimit``.
    ///   - countLimit: The maximum number of entries. Zero or less stores nothing. Default: no limit.
    ///   - entryCostLimit: The maximum cost of one entry. A costlier one is not stored and evicts nothing. Zero or less
    ///     stores nothing. Default: no limit of its own.
    ///   - timeToLive: How long an entry lives that is stored without a time of its own. Default: nil, no limit.
    ///   - extendsLifeOnUse: Whether each use gives an entry its whole time to live again. Default: false.
    ///   - policy: Default: ``MemoryCachePolicy/adaptive``.
    ///   - findsReferencedValues: Whether a value that was evicted, or was too costly to store, is still found for as long as
    ///     somebody else holds it. It then costs nothing, and is not stored again by being found. Takes values that are
    ///     ``WeaklyReferenceable``. What was removed, replaced or too old is not found. Default: false.
    ///   - pressureSource: At a change to warning the cache lets half of what it holds go, to critical everything; the
    ///     values that are only referenced elsewhere stay. Default: nil.
    ///   - clock: Default: the system's.
    ///   - onEviction: Called with the key, the value and the reason for each entry that has left, outside the lock, on
    ///     the thread whose call made it leave, before that call returns. It may call the cache; what leaves by that is reported when it has returned, in the
    ///     order in which it left, so it is never called within itself on one thread. A listener that always makes
    ///     another entry leave keeps the first call from ever returning. Threads that evict at the same time call at the
    ///     same time.
    @inlinable
    public convenience init(
        costLimit: Int = MemoryCache.defaultCostLimit,
        countLimit: Int = .max,
        entryCostLimit: Int = .max,
        timeToLive: Duration? = nil,
        extendsLifeOnUse: Bool = false,
        policy: MemoryCachePolicy = .adaptive,
        findsReferencedValues: Bool = false,
        pressureSource: (any MemoryPressureSource)? = nil,
        clock: any TimeSource = SystemClock(),
        onEviction: (@Sendable (Key, Value, EvictionReason) -> Void)? = nil
    ) {
        self.init(
            limits: MemoryCacheLimits(
                costLimit: costLimit, countLimit: countLimit, entryCostLimit: entryCostLimit, timeToLive: timeToLive,
                extendsLifeOnUse: extendsLifeOnUse),
            policy: policy, findsReferencedValues: findsReferencedValues, pressureSource: pressureSource, clock: clock,
            onEviction: onEviction)
    }

    /// Creates an empty cache with limits that are a value.
    @inlinable
    package init(
        limits: MemoryCacheLimits,
        policy: MemoryCachePolicy = .adaptive,
        findsReferencedValues: Bool = false,
        pressureSource: (any MemoryPressureSource)? = nil,
        clock: any TimeSource = SystemClock(),
        onEviction: (@Sendable (Key, Value, EvictionReason) -> Void)? = nil
    ) {
        self.limits = limits
        self.clock = clock
        reporter = EvictionReporter(onEviction)
        self.findsReferencedValues = findsReferencedValues
        groupHash = Self.groupHash()
        let state = MemoryCacheState<Key, Value>(
            hasGroups: groupHash != nil, policy: policy, isWeak: findsReferencedValues)
        readsMarks = type(of: state.policy).readsMarks
        lock = ReadMostlyLock(state, laneValue: LaneCounters(), laneCount: readsMarks ? Self.maximumLaneCount : 1)
        guard let pressureSource else { return }
        let token = pressureSource.observe { [weak self] in self?.respond(to: $0) }
        pressure.withLock { $0 = token }
    }

    /// The default cost limit in bytes: 15 % of the memory that this process may have, and at most 768 MiB.
    ///
    /// Counts the limits of the process's control groups. Reads them from the system on each call.
    public static var defaultCostLimit: Int { MemoryCacheLimits.defaultCostLimit }

    /// Sum of the costs of all entries.
    @inlinable
    public var totalCost: Int { lock.withSharedLock { state, _ in state.pointee.table.totalCost } }

    /// Number of entries.
    @inlinable
    public var count: Int { lock.withSharedLock { state, _ in state.pointee.table.slots.count } }

    /// What the cache has done so far.
    @inlinable
    public var statistics: MemoryCacheStatistics {
        lock.withAllLanes { state, lanes in
            var statistics = state.statistics
            for counters in lanes {
                statistics.recordLookups(
                    hits: counters.hits, cost: counters.hitCost, misses: counters.misses, weakHits: counters.weakHits)
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
        var outcome = LookupOutcome.done
        let value = valueAmongReaders(for: key, hash: hash, at: now, &outcome)
        return outcome == .done ? value : valueWithTime(for: key, hash: hash)
    }

    /// Looks up while other threads may do so too.
    ///
    /// - Parameters:
    ///   - now: nil when it was not read.
    ///   - outcome: What it could not do; then nothing was done.
    @inlinable @inline(__always)
    func valueAmongReaders(for key: Key, hash: Int, at now: Int64?, _ outcome: inout LookupOutcome) -> Value? {
        lock.withSharedLock { (state, counters) -> Value? in
            let reader = EntryLookup(state)
            guard let slot = reader.slot(of: key, hash: hash) else {
                let referenced = findsReferencedValues ? state.pointee.weak?.value(for: key, at: now, &outcome) : nil
                return outcome == .done ? counters.missed(referenced) : nil
            }
            let deadline = reader.deadline(of: slot)
            if deadline < .max {
                guard let now, now < deadline else {
                    outcome = now == nil ? .needsTime : .needsToWrite
                    return nil
                }
                reader.extendExpiration(of: slot, from: now)
            }
            counters.found(reader.entries[slot].cost)
            AccessMarks.record(reader.marks + slot, stamp: counters.stamp(at: reader.tick))
            return reader.entries[slot].value
        }
    }

    /// Looks up what has a deadline.
    @inlinable @inline(never)
    func valueWithTime(for key: Key, hash: Int) -> Value? {
        let now = time
        var outcome = LookupOutcome.done
        let value = valueAmongReaders(for: key, hash: hash, at: now, &outcome)
        return outcome == .done ? value : valueAlone(for: key, hash: hash, at: now)
    }

    /// Looks up where the policy must know at once, or the entry is too old.
    @inlinable
    func valueAlone(for key: Key, hash: Int, at now: Int64?) -> Value? {
        var outcome = LookupOutcome.done
        let value = valueAlone(for: key, hash: hash, at: now, &outcome)
        return outcome == .done ? value : valueAlone(for: key, hash: hash, at: time, &outcome)
    }

    /// - Parameter outcome: Set when `now` is nil and needed; then nothing was done.
    @inlinable
    func valueAlone(for key: Key, hash: Int, at now: Int64?, _ outcome: inout LookupOutcome) -> Value? {
        var releases = PendingReleases<Key, Value>()
        let value = lock.withLock { (state, counters) -> Value? in
            guard let slot = state.table.slot(of: key, hash: hash) else {
                guard findsReferencedValues else { return counters.missed(nil) }
                guard let now else {
                    let referenced = state.weak?.value(for: key, at: nil, &outcome)
                    return outcome == .done ? counters.missed(referenced) : nil
                }
                return counters.missed(state.weak?.value(for: key, at: now))
            }
            if state.table.entries[slot].expiration.expires {
                guard let now else {
                    outcome = .needsTime
                    return nil
                }
                guard !state.table.isExpired(slot, at: now) else {
                    state.remove(slot, .expired, into: &releases)
                    return counters.missed(nil)
                }
                state.table.entries[slot].expiration.extend(from: now)
            }
            counters.found(state.table.entries[slot].cost)
            // Alone, one lane's stamps are in order; behind those of several lanes comes the last of the tick.
            state.recordUse(of: slot, stamp: readsMarks ? state.tick << 8 | 0xFF : counters.stamp(at: state.tick))
            return state.table.entries[slot].value
        }
        report(releases)
        return value
    }

    /// Whether a value is stored under `key`. Not a use, and not counted. A value that is only held elsewhere is not stored,
    /// though ``value(for:)`` may find it.
    @inlinable
    public func contains(_ key: Key) -> Bool {
        let hash = key.hashValue
        let deadline = lock.withSharedLock { (state, _) -> Int64? in
            let reader = EntryLookup(state)
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
        let expiration = span.map { EntryExpiration(from: now ?? 0, for: $0, isExtendedByUse: limits.extendsLifeOnUse) }
        let isTooOld = (span ?? .max) <= 0
        var releases = PendingReleases<Key, Value>()
        let isStored = lock.withLock { (state, _) -> Bool in
            guard limits.admits(cost: cost), !isTooOld else {
                state.reject(
                    value, for: key, hash: hash, cost: cost, expiration: expiration ?? EntryExpiration(),
                    isTooOld: isTooOld, into: &releases)
                return false
            }
            return state.store(
                value, for: key, hash: hash, groupHash: groupHash?(key) ?? 0, cost: cost, limits: limits,
                expiration: expiration ?? EntryExpiration(), priority: priority, now: now, into: &releases)
        }
        report(releases)
        return isStored
    }

    /// Removes and returns the value stored under `key`. One that is too old is removed, not returned; one that is only
    /// held elsewhere is forgotten, not returned.
    @discardableResult
    @inlinable
    public func removeValue(for key: Key) -> Value? {
        let (hash, now) = (key.hashValue, mayExpire ? time : .min)
        var releases = PendingReleases<Key, Value>()
        lock.withLock { state, _ in
            state.weak?.forget(key)
            guard let slot = state.table.slot(of: key, hash: hash) else { return }
            state.remove(slot, state.table.isExpired(slot, at: now) ? .expired : .removed, into: &releases)
        }
        report(releases)
        return releases.evictions.first { $0.reason == .removed }?.value
    }

    /// Removes every entry, with the memory that the cache has for them, and forgets what is held weakly. The lock is held
    /// for O(1); reporting and releasing are O(number of entries).
    @inlinable
    public func removeAll() { removeEverything() }

    /// Returns how many entries there were.
    @inlinable
    @discardableResult
    func removeEverything() -> Int {
        var releases = PendingReleases<Key, Value>()
        let count = lock.withLock { state, _ in state.removeAll(.removed, into: &releases) }
        report(releases)
        return count
    }

    /// Removes what is too old. O(number of entries), if any of them has a time.
    @inlinable
    public func removeExpired() {
        let now = time
        var releases = PendingReleases<Key, Value>()
        lock.withLock { state, _ in state.removeExpired(at: now, into: &releases) }
        report(releases)
    }

    /// Lets the least useful entries go until the rest cost at most `cost` and are at most `count`. When nothing is
    /// left, the memory that the cache had for it goes as well, and the policy begins anew.
    ///
    /// - Complexity: O(number of entries that go).
    @inlinable
    public func trim(toCost cost: Int = .max, count: Int = .max) {
        var releases = PendingReleases<Key, Value>()
        lock.withLock { state, _ in state.trim(toCost: max(0, cost), count: max(0, count), into: &releases) }
        report(releases)
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
            var releases = PendingReleases<Key, Value>()
            lock.withLock { state, _ in state.halve(into: &releases) }
            report(releases)
        case .critical:
            trim(count: 0)
            // What the cache alone held is gone only now.
            sweepWeakReferences()
            SystemMemory.releaseFreeMemory()
        }
    }

    /// Forgets the values of the weak level that nobody holds any more. O(number of those it knows).
    func sweepWeakReferences() {
        var releases = PendingReleases<Key, Value>()
        lock.withLock { state, _ in state.weak?.sweep(examined: &releases.examined) }
        withExtendedLifetime(releases) {}
    }

    /// Keys, values and costs of all entries that are not too old, in no order. Not a use. O(number of entries).
    @inlinable
    package var entries: [(key: Key, value: Value, cost: Int)] {
        let now = time
        return lock.withSharedLock { state, _ in
            let reader = EntryLookup(state)
            return (0..<state.pointee.table.slots.count).compactMap { position in
                let slot = Int(state.pointee.table.slots.order[position])
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
        var releases = PendingReleases<Key, Value>()
        lock.withLock { state, _ in
            for slot in state.table.slots(ofGroup: hash) where state.table.entries[slot].key.map(isMember) == true {
                state.remove(slot, .removed, into: &releases)
            }
            state.weak?.forgetAll(where: isMember)
        }
        report(releases)
        return releases.evictions.count
    }

    @inlinable
    var mayExpire: Bool { lock.withSharedLock { state, _ in state.pointee.table.expiringCount > 0 } }

    /// In the units of ``CacheTime``.
    @inlinable
    var time: Int64 { CacheTime.units(clock.uptime) }

    @inlinable
    func report(_ releases: PendingReleases<Key, Value>) { reporter.report(releases) }

    /// nil when keys have no groups.
    @inlinable
    static func groupHash() -> (@Sendable (Key) -> Int)? {
        func hash<Grouped: GroupedKey>(of type: Grouped.Type) -> @Sendable (Key) -> Int {
            { ($0 as? Grouped)?.groupHash ?? 0 }
        }
        return (Key.self as? any GroupedKey.Type).map { hash(of: $0) }
    }
}
