/// The place of a store among the stores and removals of its key. Called while no other change is made.
struct StoreOrder: Sendable {
    /// Returns whether no later store or removal has been done.
    var isDue: @Sendable () -> Bool = { true }
    /// Notes that the store has been done.
    var noteDone: @Sendable () -> Void = {}
}
