public import AlcedoCore
public import AlcedoRuntime
import Synchronization

/// A cache that keeps values in memory within cost and count limits.
///
/// ```swift
/// import AlcedoMemoryCache
///
/// let thumbnails = MemoryCache<String, [UInt8]>(costLimit: 64 << 20, timeToLive: .seconds(600))
/// thumbnails.store([1, 2, 3], for: "icon", cost: 3)
/// print(thumbnails.value(for: "icon")?.count ?? 0)
/// ```
///
/// All calls are synchronous and safe from any thread. A ``MemoryCachePolicy`` chooses the entries to evict. The cache
/// releases values and calls the eviction listener outside its lock, so that both may call the cache. `==` of `Key` and
/// ``WeaklyReferenceable/weakReference`` run under the lock: they must not call the cache and should be fast.
///
/// An expired entry is never returned. It is removed when it is looked up, by ``trim(toCost:count:)``, or by a later
/// store.
///
/// - Complexity: O(1) for every operation unless its comment says otherwise. Stores are O(1) amortized.
public final class MemoryCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// The maximum number of lanes for concurrent readers. More concurrent threads are rare, and each lane makes a
    /// store slower.
    @inlinable
    static var maximumLaneCount: Int { 8 }

    /// The limits the cache was created with.
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
    ///   - costLimit: The maximum cost of all entries together, in the caller's unit, usually bytes. With zero or less,
    ///     the cache stores nothing. Values above half of `Int.max` count as that half, so that sums cannot overflow.
    ///     Entries of zero cost are bounded by `countLimit` alone. Default: ``defaultCostLimit``.
    ///   - countLimit: The maximum number of entries. With zero or less, the cache stores nothing. Default: no limit.
    ///   - maximumEntryCost: The maximum cost of an entry. A more expensive entry is not stored, and evicts nothing.
    ///     With zero or less, the cache stores nothing. Default: no separate limit.
    ///   - timeToLive: The time to live of an entry that is stored without its own time to live. Default: nil, no
    ///     limit.
    ///   - extendsExpiryOnUse: Whether each use restarts an entry's time to live. Default: false.
    ///   - policy: The eviction policy. Default: ``MemoryCachePolicy/adaptive``.
    ///   - findsReferencedValues: Whether the cache also finds a value that it does not store but that another owner
    ///     holds. The cache finds such a value if it was evicted, was too expensive to store, or was rejected by the
    ///     policy. The value adds no cost, and finding the value does not store it again. The values must be
    ///     ``WeaklyReferenceable``. Values that were removed, replaced or have expired are not found. Default: false.
    ///   - pressureSource: Reports memory pressure. When the level changes to warning, the cache evicts half of its
    ///     total cost, or half of its entries if they have no cost. When the level changes to critical, the cache
    ///     evicts everything. With `findsReferencedValues`, evicted values that another owner holds can still be found.
    ///     Default: nil.
    ///   - clock: The clock for expiration. Default: the system's.
    ///   - onEviction: Called with the key, the value and the reason for each entry that leaves the cache. The call
    ///     happens outside the lock, on the thread whose call removed the entry, before that call returns. The listener
    ///     may call the cache. If such a call removes further entries, they are reported after the listener returns, in
    ///     the order in which they left, so the listener never runs recursively on one thread. If each run of the
    ///     listener removes another entry, the call that removed the first entry never returns. The listener may run
    ///     concurrently on several threads. Default: nil.
    @inlinable
    public convenience init(
        costLimit: Int = MemoryCache.defaultCostLimit,
        countLimit: Int = .max,
        maximumEntryCost: Int = .max,
        timeToLive: Duration? = nil,
        extendsExpiryOnUse: Bool = false,
        policy: MemoryCachePolicy = .adaptive,
        findsReferencedValues: Bool = false,
        pressureSource: (any MemoryPressureSource)? = nil,
        clock: any TimeSource = SystemClock(),
        onEviction: (@Sendable (Key, Value, EvictionReason) -> Void)? = nil
    ) {
        self.init(
            limits: MemoryCacheLimits(
                costLimit: costLimit, countLimit: countLimit, maximumEntryCost: maximumEntryCost,
                timeToLive: timeToLive,
                extendsExpiryOnUse: extendsExpiryOnUse),
            policy: policy, findsReferencedValues: findsReferencedValues, pressureSource: pressureSource, clock: clock,
            onEviction: onEviction)
    }

    /// Creates an empty cache with the given limits.
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

    /// The default cost limit in bytes: 15 % of the memory that this process may use, and at most 768 MiB.
    ///
    /// The limits of the process's control groups apply. The figures are read from the system on each access.
    public static var defaultCostLimit: Int { MemoryCacheLimits.defaultCostLimit }

    /// The total cost of all entries, including expired entries that have not been removed yet.
    @inlinable
    public var totalCost: Int { lock.withSharedLock { state, _ in state.pointee.table.totalCost } }

    /// The number of entries, including expired entries that have not been removed yet.
    @inlinable
    public var count: Int { lock.withSharedLock { state, _ in state.pointee.table.slots.count } }

    /// The counts of lookups, stores and evictions since the cache was created.
    @inlinable
    public var statistics: CacheStatistics {
        lock.withAllLanes { state, lanes in
            var statistics = state.statistics
            for counters in lanes {
                statistics.recordLookups(
                    hits: counters.hits, cost: counters.hitCost, misses: counters.misses, weakHits: counters.weakHits)
            }
            return statistics
        }
    }

    /// Returns the value stored under `key` and records a use of it. Returns nil if no value is stored or the value has
    /// expired. An expired entry is removed.
    ///
    /// With `findsReferencedValues`, the call also returns a value that is not stored but that another owner holds.
    /// ``statistics`` counts such a lookup as a miss and as a weak hit.
    @inlinable
    public func value(for key: Key) -> Value? {
        let hash = key.hashValue
        // The clock is never read under the lock. It is read here only if every entry has a time to live.
        let now = limits.timeToLive == nil ? nil : time
        guard readsMarks else { return valueAlone(for: key, hash: hash, at: now) }
        var outcome = LookupOutcome.done
        let value = valueAmongReaders(for: key, hash: hash, at: now, &outcome)
        return outcome == .done ? value : valueWithTime(for: key, hash: hash)
    }

    /// Looks up a value under the shared lock, while other threads may do the same.
    ///
    /// - Parameters:
    ///   - key: The key of the entry.
    ///   - hash: The hash value of `key`.
    ///   - now: The current time; nil if the clock was not read.
    ///   - outcome: Set to the reason if the lookup cannot complete. In this case, the call has no effect.
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
                if limits.extendsExpiryOnUse { reader.extendExpiration(of: slot, from: now) }
            }
            counters.found(reader.entries[slot].cost)
            AccessMarks.record(reader.marks + slot, stamp: counters.stamp(at: reader.tick))
            return reader.entries[slot].value
        }
    }

    /// Repeats a lookup that needs the current time or must make a change. Takes the exclusive lock only for a change.
    @inlinable @inline(never)
    func valueWithTime(for key: Key, hash: Int) -> Value? {
        let now = time
        var outcome = LookupOutcome.done
        let value = valueAmongReaders(for: key, hash: hash, at: now, &outcome)
        return outcome == .done ? value : valueAlone(for: key, hash: hash, at: now)
    }

    /// Looks up a value under the exclusive lock, for policies that track each use and for expired entries.
    @inlinable
    func valueAlone(for key: Key, hash: Int, at now: Int64?) -> Value? {
        var outcome = LookupOutcome.done
        let value = valueAlone(for: key, hash: hash, at: now, &outcome)
        return outcome == .done ? value : valueAlone(for: key, hash: hash, at: time, &outcome)
    }

    /// Looks up a value under the exclusive lock.
    ///
    /// If `now` is nil and the lookup needs the time, sets `outcome` to `needsTime` and has no other effect.
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
            if state.table.entries[slot].deadline < .max {
                guard let now else {
                    outcome = .needsTime
                    return nil
                }
                guard !state.table.isExpired(slot, at: now) else {
                    state.remove(slot, .expired, into: &releases)
                    return counters.missed(nil)
                }
                var expiration = state.table.expiration(of: slot)
                expiration.extend(from: now)
                state.table.setExpiration(expiration, of: slot)
            }
            counters.found(state.table.entries[slot].cost)
            // With one lane, its counter puts all uses in order. With several lanes, the stamp must be the highest of
            // this tick, because a reader in any lane may have recorded an earlier use.
            state.recordUse(of: slot, stamp: readsMarks ? state.tick << 8 | 0xFF : counters.stamp(at: state.tick))
            return state.table.entries[slot].value
        }
        report(releases)
        return value
    }

    /// Returns whether a value is stored under `key` and has not expired.
    ///
    /// The call is not a use and is not counted in ``statistics``. Only stored values count. ``value(for:)`` may also
    /// find a value that is not stored but that another owner holds.
    @inlinable
    public func contains(_ key: Key) -> Bool {
        let hash = key.hashValue
        let deadline = lock.withSharedLock { (state, _) -> Int64? in
            let reader = EntryLookup(state)
            return reader.slot(of: key, hash: hash).map { reader.deadline(of: $0) }
        }
        return deadline.map { $0 == .max || $0 > time } ?? false
    }

    /// Stores `value` under `key`, replaces an existing value, and records a use.
    ///
    /// A value that has already expired, or whose cost exceeds a limit, is not stored and evicts no other entry. A
    /// value that the policy rejects is not stored either, but may already have evicted other entries. Whenever the
    /// value is not stored, the previous value under `key` is removed, because it is outdated. A negative cost counts
    /// as zero.
    ///
    /// - Parameters:
    ///   - value: The value to store.
    ///   - key: The key of the entry.
    ///   - cost: The cost in the unit of the limits, usually bytes.
    ///   - timeToLive: The time to live; nil for the cache's default. With zero or less, the value has already expired.
    ///   - priority: The order of removal under memory pressure. Any priority other than normal takes about 40 bytes.
    ///     Default: normal.
    /// - Returns: Whether the value is stored. The eviction listener is not called for a value that is not stored,
    ///   because that value never was in the cache.
    @discardableResult
    @inlinable
    public func store(
        _ value: Value, for key: Key, cost: Int, timeToLive: Duration? = nil, priority: PurgePriority = .normal
    ) -> Bool {
        let (cost, hash) = (max(0, cost), key.hashValue)
        let span = (timeToLive ?? limits.timeToLive).map(CacheTime.units)
        let now = span != nil || mayExpire ? time : nil
        let expiration = span.map {
            EntryExpiration(from: now ?? 0, for: $0, isExtendedByUse: limits.extendsExpiryOnUse)
        }
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

    /// The keys of all entries that have not expired, the least recently used first. Reading them is not a use.
    ///
    /// ```swift
    /// import AlcedoMemoryCache
    ///
    /// let cache = MemoryCache<String, [UInt8]>(costLimit: 1 << 20)
    /// for name in ["a", "b", "c"] { cache.store([], for: name, cost: 1) }
    /// _ = cache.value(for: "a")
    /// print(cache.keys)  // ["b", "c", "a"]
    /// ```
    ///
    /// The order is that of the last reads and stores, whatever the policy evicts first. It is exact with the policies
    /// ``MemoryCachePolicy/lru`` and ``MemoryCachePolicy/purging(toPreferredCost:)``, which evict in this order. With
    /// the other policies, the order of reads between two stores is known only for the first 255 reads of a thread, and
    /// reads on different threads between two stores are in any order.
    ///
    /// - Complexity: O(*n*) under the cache's lock for *n* entries. With policies other than the two, also
    ///   O(*n* log *n*) outside the lock.
    public var keys: [Key] {
        let now = time
        let (keys, isOrdered) = lock.withSharedLock { state, _ -> ([(key: Key, lastUse: UInt64)], Bool) in
            let reader = EntryLookup(state)
            let (table, order) = (state.pointee.table, state.pointee.policy.slotsByUse)
            let keys = (order ?? (0..<table.count).map { table.slots[$0] }).compactMap { slot in
                now < reader.deadline(of: slot)
                    ? reader.entries[slot].key.map { (key: $0, lastUse: state.pointee.marks.lastUse(slot)) } : nil
            }
            return (keys, order != nil)
        }
        return (isOrdered ? keys : keys.sorted { $0.lastUse < $1.lastUse }).map(\.key)
    }

    /// The keys, values and costs of all entries that have not expired, in no order. Reading them is not a use.
    /// O(number of entries).
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

    @inlinable
    var mayExpire: Bool { lock.withSharedLock { state, _ in state.pointee.table.expiringCount > 0 } }

    /// The clock's uptime in the units of ``CacheTime``.
    @inlinable
    var time: Int64 { CacheTime.units(clock.uptime) }

    @inlinable
    func report(_ releases: PendingReleases<Key, Value>) { reporter.report(releases) }

    /// Returns a function that computes the hash of a key's group; nil if keys have no groups.
    @inlinable
    static func groupHash() -> (@Sendable (Key) -> Int)? {
        func hash<Grouped: GroupedKey>(of type: Grouped.Type) -> @Sendable (Key) -> Int {
            { ($0 as? Grouped)?.groupHash ?? 0 }
        }
        return (Key.self as? any GroupedKey.Type).map { hash(of: $0) }
    }
}
