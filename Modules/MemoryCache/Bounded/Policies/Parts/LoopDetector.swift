/// Recognizes a loop: a sequence of entries that is requested again and again and does not fit into the cache.
///
/// In a loop, entries return in the order of their last uses, each shortly after its predecessor. Other patterns lack
/// that order: scrolling back returns entries in reverse, and independent requests return them at random. The
/// detector counts returns in order. A return out of order, or an entry that is not remembered, takes eight of them
/// back, so about nine of ten misses must be returns in order for the count to grow. A loop is recognized when the
/// count reaches a quarter of the number of entries, plus eight.
///
/// O(1), 24 bytes.
struct LoopDetector: Sendable {
    /// The number of returns in order that one other miss outweighs.
    private static let penalty = 8

    /// The last use of the entry that returned last.
    private var lastUse: UInt32 = 0
    private var returnsInOrder = 0
    /// Whether the misses of late are those of a loop.
    private(set) var isActive = false

    /// Records a miss, and returns whether it is part of a loop.
    ///
    /// - Parameters:
    ///   - ghost: The entry as it was remembered; nil for one that is not.
    ///   - count: The number of entries in the cache.
    mutating func contains(_ ghost: GhostList.Ghost?, count: Int) -> Bool {
        var isInOrder = false
        if let ghost {
            let distance = Int(Int32(bitPattern: ghost.lastUse &- lastUse))
            // Uses that follow each other too closely are not told apart, and prove nothing.
            guard distance != 0 else { return isActive }
            lastUse = ghost.lastUse
            // The low eight bits of a use tell apart those between two stores.
            isInOrder = distance > 0 && distance >> 8 <= 1 + count / 8
        }
        let threshold = 8 + count / 4
        returnsInOrder = isInOrder ? min(returnsInOrder + 1, 2 * threshold) : max(0, returnsInOrder - Self.penalty)
        isActive = returnsInOrder >= threshold
        return isActive && isInOrder
    }
}
