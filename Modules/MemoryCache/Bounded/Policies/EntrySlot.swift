/// A place for an entry, as policies see it: a small number, used again when the entry has gone.
public struct EntrySlot: Sendable, Hashable {
    /// 0, 1, 2 and so on: below the largest number of entries that there have been at once.
    public let index: Int

    @inlinable
    init(_ index: Int) { self.index = index }
}
