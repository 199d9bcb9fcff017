/// Values that were evicted, for as long as somebody else holds them.
///
/// Those that nobody holds any more are swept out whenever the number has doubled, so there are never more than twice as
/// many notes as values that are held, and 64. O(1), amortised.
@usableFromInline
struct WeakLevel<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline typealias Reference = @Sendable () -> Value?

    @inlinable
    static var fewest: Int { 64 }

    @usableFromInline var references: [Key: Reference] = [:]
    @usableFromInline var sweepCount = fewest

    @inlinable
    init() {}

    @usableFromInline
    func value(for key: Key) -> Value? { references[key]?() }

    /// - Parameter lookedAt: Gets what a sweep has found alive, to be released outside the lock.
    @inlinable
    mutating func remember(_ value: Value, for key: Key, lookingAt lookedAt: inout [Value]) {
        guard let held = value as? any WeaklyHeld, let reference = Self.reference(to: held) else { return }
        references[key] = reference
        guard references.count > sweepCount else { return }
        references = references.filter { _, reference in
            guard let value = reference() else { return false }
            lookedAt.append(value)
            return true
        }
        sweepCount = max(Self.fewest, references.count * 2)
    }

    @inlinable
    mutating func forget(_ key: Key) {
        if !references.isEmpty { references[key] = nil }
    }

    @inlinable
    mutating func forgetAll(where isForgotten: (Key) -> Bool) {
        references = references.filter { !isForgotten($0.key) }
    }

    @inlinable
    static func reference<Held: WeaklyHeld>(to value: Held) -> Reference? {
        guard let reference = value.weakReference else { return nil }
        return { reference() as? Value }
    }
}
