import AlcedoCore

/// What NSCache holds, which it does not tell: the keys, the costs and their sum.
///
/// It holds the boxes as well, so that what NSCache releases under its own lock is never the last reference.
///
/// - Complexity: O(1) for every operation unless it says otherwise, and a hash over the resource's name.
struct ImageAccount: Sendable {
    /// Sum of the costs, in bytes.
    private(set) var totalCost = 0
    /// Number of images.
    private(set) var count = 0
    private var boxes: [ResourceKey: [ImageKey: ImageBox]] = [:]

    /// One of the boxes; nil when there is none.
    var anyBox: ImageBox? { boxes.values.first?.values.first }

    /// Enters `box`, and returns the one that it replaces.
    mutating func insert(_ box: ImageBox) -> ImageBox? {
        let key = box.key.key
        let old = boxes[key.resource, default: [:]].updateValue(box, forKey: key)
        totalCost += box.cost - (old?.cost ?? 0)
        count += old == nil ? 1 : 0
        return old
    }

    /// Strikes out what `boxes` hold.
    mutating func remove(_ boxes: [ImageBox]) {
        for box in boxes { _ = remove(box.key.key) }
    }

    /// Strikes out the box under `key` and returns it.
    mutating func remove(_ key: ImageKey) -> ImageBox? {
        guard let old = boxes[key.resource]?.removeValue(forKey: key) else { return nil }
        if boxes[key.resource]?.isEmpty == true { boxes[key.resource] = nil }
        totalCost -= old.cost
        count -= 1
        return old
    }

    /// Strikes out the original and every variant of `resource` and returns them. O(their number).
    mutating func removeAll(of resource: ResourceKey) -> [ImageBox] {
        let old = boxes.removeValue(forKey: resource).map { Array($0.values) } ?? []
        for box in old { totalCost -= box.cost }
        count -= old.count
        return old
    }

    /// Strikes out all and returns them. O(number of images).
    mutating func removeAll() -> [ImageBox] {
        defer { self = ImageAccount() }
        return boxes.values.flatMap(\.values)
    }
}
