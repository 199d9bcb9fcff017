public import AlcedoCore

/// A value that a cache can find again while another owner holds it.
public protocol WeaklyReferenceable: Sendable {
    /// A function that returns the value while its storage is in use, and nil afterwards. The property is nil if the
    /// value does not support weak references.
    ///
    /// The function must not keep large storage alive. The cache reads the property, and calls and releases the
    /// function, under its lock. The function must not call the cache. The same applies to the deinitializers of the
    /// objects that the function keeps alive.
    var weakReference: (@Sendable () -> Self?)? { get }
}

extension DecodedImage: WeaklyReferenceable {}

/// Weak references to evicted and rejected values, which can be found while another owner holds them.
///
/// A sweep removes the references to released values when the number of references exceeds both 64 and twice the number
/// that survived the last sweep. A lookup or an addition is O(1), amortized.
@usableFromInline
struct WeakValueTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline typealias Reference = @Sendable () -> Value?

    @inlinable
    static var minimumSweepCount: Int { 64 }

    @usableFromInline
    struct Entry: Sendable {
        @usableFromInline let reference: Reference
        @usableFromInline var expiration: EntryExpiration

        @inlinable
        init(reference: @escaping Reference, expiration: EntryExpiration) {
            (self.reference, self.expiration) = (reference, expiration)
        }
    }

    @usableFromInline var entries: [Key: Entry] = [:]
    @usableFromInline var sweepCount = minimumSweepCount

    @inlinable
    init() {}

    /// Looks up a value under the shared lock. If the lookup cannot complete, sets `outcome` to the reason and returns
    /// nil.
    @usableFromInline
    func value(for key: Key, at now: Int64?, _ outcome: inout LookupOutcome) -> Value? {
        guard let entry = entries[key] else { return nil }
        guard entry.expiration.expires else { return entry.reference() }
        guard let now else {
            outcome = .needsTime
            return nil
        }
        guard !entry.expiration.isExpired(at: now), entry.expiration.extensionSpan == 0 else {
            outcome = .needsToWrite
            return nil
        }
        return entry.reference()
    }

    /// Looks up a value under the exclusive lock. Forgets the value if it has expired; otherwise, restarts its time to
    /// live if uses extend it.
    @usableFromInline
    mutating func value(for key: Key, at now: Int64) -> Value? {
        guard let entry = entries[key] else { return nil }
        guard !entry.expiration.isExpired(at: now) else {
            entries[key] = nil
            return nil
        }
        if entry.expiration.extensionSpan > 0 { entries[key]?.expiration.extend(from: now) }
        return entry.reference()
    }

    /// Adds a weak reference to a value, if the value supports it.
    ///
    /// The value can be found until it expires, and each use can extend that time. If the call sweeps, it appends the
    /// values it found alive to `examined`, which the caller must release outside the lock.
    @inlinable
    mutating func remember(_ value: Value, for key: Key, expiration: EntryExpiration, examined: inout [Value]) {
        guard let referenced = value as? any WeaklyReferenceable, let reference = Self.reference(to: referenced) else {
            return
        }
        entries[key] = Entry(reference: reference, expiration: expiration)
        if entries.count > sweepCount { sweep(examined: &examined) }
    }

    /// Removes the references to released values and frees their memory. O(number of entries).
    ///
    /// - Parameter examined: Receives the values found alive, which the caller must release outside the lock.
    @inlinable
    mutating func sweep(examined: inout [Value]) {
        entries = entries.filter { _, entry in
            guard let value = entry.reference() else { return false }
            examined.append(value)
            return true
        }
        sweepCount = max(Self.minimumSweepCount, entries.count * 2)
    }

    @inlinable
    mutating func forget(_ key: Key) {
        if !entries.isEmpty { entries[key] = nil }
    }

    @inlinable
    mutating func forgetAll(where isForgotten: (Key) -> Bool) {
        entries = entries.filter { !isForgotten($0.key) }
    }

    /// Forgets all expired values. O(number of entries).
    @inlinable
    mutating func forget(olderThan now: Int64) {
        entries = entries.filter { !$0.value.expiration.isExpired(at: now) }
    }

    @inlinable
    static func reference<Referenced: WeaklyReferenceable>(to value: Referenced) -> Reference? {
        guard let reference = value.weakReference else { return nil }
        return { reference() as? Value }
    }
}
