import AlcedoCore
import AlcedoNSCache

extension ImageKey {
    /// Returns the original of a resource named by a number.
    static func number(_ number: Int) -> ImageKey { ImageKey(ResourceKey("\(number)")) }
}

extension NSCacheBackend {
    /// Returns a cache in which images of these costs were stored, in this order, under the keys from 0.
    static func storing(_ costs: [Int], costLimit: Int = .max, countLimit: Int = .max) -> NSCacheBackend {
        let cache = NSCacheBackend(costLimit: costLimit, countLimit: countLimit)
        for (number, cost) in costs.enumerated() { cache.store(.weighing(cost), for: .number(number)) }
        return cache
    }

    /// The stored keys from 0 to 19.
    var numbers: [Int] { (0..<20).filter { image(for: .number($0)) != nil } }
}
