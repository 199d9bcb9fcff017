/// A moment in a ``ChangeOrder``. Two marks of one resource are equal when it did not change between them.
struct ChangeMark: Sendable, Hashable {
    /// Changes of the resource, and of others that share a counter with it.
    var count: Int
    /// Changes of everything.
    var wholeCount: Int
}
