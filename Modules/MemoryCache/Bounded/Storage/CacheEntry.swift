/// One entry of a memory cache, or a free place for one.
@usableFromInline
struct CacheEntry<Key: Sendable, Value: Sendable>: Sendable {
    /// The first, so that its deadline is where the entry begins: see ``EntryReader/atomicDeadline(of:)``.
    @usableFromInline var life = EntryLife()
    /// nil while the place is free, as is the value.
    @usableFromInline var key: Key?
    @usableFromInline var value: Value?
    @usableFromInline var hash = 0
    @usableFromInline var cost = 0
    @usableFromInline var groupHash = 0
    /// Neighbours in the list of the group; -1 for none.
    @usableFromInline var nextInGroup: Int32 = -1
    @usableFromInline var previousInGroup: Int32 = -1

    @inlinable
    init() {}
}
