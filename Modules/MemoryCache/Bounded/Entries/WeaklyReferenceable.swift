public import AlcedoCore

/// A value that can be found again for as long as somebody else holds it.
public protocol WeaklyReferenceable: Sendable {
    /// Gives the value back while something holds what it is made of, then nil. Keeps nothing large alive itself. nil when
    /// that cannot be.
    ///
    /// Asked for, called and let go under the cache's lock: it must not call the cache, nor may what it keeps alive when
    /// that goes.
    var weakReference: (@Sendable () -> Self?)? { get }
}

extension DecodedImage: WeaklyReferenceable {}

/// Values that were evicted, for as long as somebody else holds them.
///
/// Those that nobody holds any more are swept out whenever the number has doubled, so there are never more than twice as
/// many notes as values that were held at the last sweep, and 64. O(1), amortised.
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

    /// Looks a value up among other readers.
    ///
    /// - Parameter outcome: What it could not do; then there is no answer yet.
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

    /// Looks a value up alone, and forgets it if it is too old.
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

    /// - Parameters:
    ///   - life: As long as the value is found at most.
    ///   - examined: Gets what a sweep has found alive, to be released outside the lock.
    @inlinable
    mutating func remember(_ value: Value, for key: Key, expiration: EntryExpiration, examined: inout [Value]) {
        guard let referenced = value as? any WeaklyReferenceable, let reference = Self.reference(to: referenced) else {
            return
        }
        entries[key] = Entry(reference: reference, expiration: expiration)
        if entries.count > sweepCount { sweep(examined: &examined) }
    }

    /// Forgets what nobody holds any more, with the memory for it. O(number of entries).
    ///
    /// - Parameter examined: Gets what is alive, to be released outside the lock.
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

    /// O(number of entries).
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
