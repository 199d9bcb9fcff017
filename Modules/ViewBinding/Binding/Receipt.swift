/// Names one load of one binder. Two loads of the same URL have two receipts.
struct Receipt: Hashable, Sendable {
    let number: Int
}
