public import AlcedoCore

extension MemoryCache {
    /// Removes and returns the value stored under `key`.
    ///
    /// Returns nil if no value is stored, or if the value has expired. An expired entry is removed. If the value is not
    /// stored but another owner holds it, the call returns nil, and the cache no longer finds the value.
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

    /// Removes every entry, frees the cache's memory for them, and forgets all weak references.
    ///
    /// - Complexity: O(number of entries) outside the lock, for reporting and releasing the entries, and O(1) under the
    ///   lock.
    @inlinable
    public func removeAll() { removeEverything() }

    /// Removes every entry. Returns the number of removed entries.
    @inlinable
    @discardableResult
    func removeEverything() -> Int {
        var releases = PendingReleases<Key, Value>()
        let count = lock.withLock { state, _ in state.removeAll(.removed, into: &releases) }
        report(releases)
        return count
    }

    /// Removes all expired entries, then evicts the least useful entries until the rest cost at most `cost` and number
    /// at most `count`. By default, removes only the expired entries.
    ///
    /// If no entry is left, the cache also frees its memory for entries and resets the policy.
    ///
    /// - Complexity: O(number of evicted entries); O(number of entries) if any entry has a time to live. With
    ///   `findsReferencedValues`, also O(number of weak references).
    @inlinable
    public func trim(toCost cost: Int = .max, count: Int = .max) {
        let now = time
        var releases = PendingReleases<Key, Value>()
        lock.withLock { state, _ in
            state.removeExpired(at: now, into: &releases)
            state.trim(toCost: max(0, cost), count: max(0, count), into: &releases)
        }
        report(releases)
    }

    /// Responds to a change of memory pressure.
    ///
    /// At warning, evicts half of the total cost, or half of the entries if they have no cost. If all entries have the
    /// ``PurgePriority`` normal, the policy chooses the entries. Otherwise, entries of lower priority are evicted first
    /// and, within a priority, the least recently used entries. At critical pressure, evicts everything, frees the
    /// cache's memory for entries, and returns the process's free memory to the system.
    ///
    /// A source calls this when the level changes, so a lasting warning halves the cache once.
    ///
    /// - Complexity: O(number of evicted entries); with priorities O(n log n) for n entries. At critical, also O(number
    ///   of weak references).
    @usableFromInline package func respond(to level: MemoryPressure) {
        switch level {
        case .normal: break
        case .warning:
            var releases = PendingReleases<Key, Value>()
            lock.withLock { state, _ in state.halve(into: &releases) }
            report(releases)
        case .critical:
            trim(count: 0)
            // Values that only the cache held were released by `trim`, so their weak references are now empty.
            sweepWeakReferences()
            SystemMemory.releaseFreeMemory()
        }
    }

    /// Removes the weak references to values that no owner holds. O(number of weak references).
    func sweepWeakReferences() {
        var releases = PendingReleases<Key, Value>()
        lock.withLock { state, _ in state.weak?.sweep(examined: &releases.examined) }
        withExtendedLifetime(releases) {}
    }

    /// Removes the entries of a group that satisfy `isMember`. Returns the number of removed entries. O(number of
    /// entries whose group has that hash, plus the number of weak references).
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
}
