import AlcedoCore
import AlcedoNSCache
import Foundation
import Testing

/// The undocumented behavior of Foundation's NSCache, seen through the backend. If one of these fails with a new
/// Foundation, nothing is broken, but the doc comment of ``NSCacheBackend`` needs an update.
@Suite struct FoundationTests {
    @Test func `Foundation evicts the lowest cost first`() {
        let cache = NSCacheBackend.storing([10, 50, 20, 15, 30], costLimit: 100)
        #expect(cache.numbers == [1, 2, 4])
    }

    @Test func `Foundation evicts the newest of equal costs first, even the one being stored`() {
        let cache = NSCacheBackend.storing([1, 1, 1, 1, 1], costLimit: 3)
        #expect(cache.numbers == [0, 1, 2])

        cache.store(.weighing(2), for: .number(5))
        #expect(cache.numbers == [0, 5])
    }

    @Test func `Foundation evicts by count as by cost`() {
        let equal = NSCacheBackend.storing(Array(repeating: 0, count: 8), countLimit: 5)
        #expect(equal.numbers == [0, 1, 2, 3, 4])

        let different = NSCacheBackend.storing([3, 1, 2, 5, 4], countLimit: 3)
        #expect(different.numbers == [0, 3, 4])
    }

    @Test func `Foundation does not count a lookup as a use`() {
        let cache = NSCacheBackend.storing([1, 1, 1], costLimit: 3)
        for _ in 0..<10 { _ = cache.image(for: .number(2)) }
        cache.store(.weighing(2), for: .number(3))
        #expect(cache.numbers == [0, 3])
    }

    @Test func `Foundation keeps a replaced image in its position unless its cost changes`() {
        let same = NSCacheBackend.storing([1, 1, 1])
        same.store(.weighing(1), for: .number(0))
        same.trim(toCost: 2)
        #expect(same.numbers == [0, 1])

        let changed = NSCacheBackend.storing([1, 1, 1])
        changed.store(.weighing(2), for: .number(0))
        changed.store(.weighing(1), for: .number(0))
        changed.trim(toCost: 2)
        #expect(changed.numbers == [1, 2])
    }

    @Test func `Foundation trims in the order in which it evicts`() {
        let cache = NSCacheBackend.storing([1, 5, 2, 3, 3])
        cache.trim(toCost: 11)
        #expect(cache.numbers == [1, 3, 4])
        cache.trim(toCost: 8)
        #expect(cache.numbers == [1, 3])
        cache.trim(toCost: 7)
        #expect(cache.numbers == [1])
        cache.trim(toCost: 4)
        #expect(cache.numbers == [])
    }

    @Test func `Foundation clears its cache for one entry over the limit`() {
        let cache = plainCache(costLimit: 3)
        for number in 0..<3 { cache.setObject(Entry(), forKey: number as NSNumber, cost: 1) }
        cache.setObject(Entry(), forKey: 3, cost: 4)
        #expect((0..<4).allSatisfy { cache.object(forKey: $0 as NSNumber) == nil })
    }

    @Test func `Foundation treats a limit of zero as no limit`() {
        let cache = plainCache(costLimit: 0)
        cache.setObject(Entry(), forKey: 0, cost: 1 << 40)
        #expect(cache.object(forKey: 0) != nil)
        cache.removeAllObjects()
    }

    @Test func `Foundation enforces its limits only when something is stored`() {
        let cache = plainCache(costLimit: 3)
        let entry = Entry()
        cache.setObject(entry, forKey: 0, cost: 1)
        cache.setObject(Entry(), forKey: 1, cost: 1)
        cache.totalCostLimit = 1
        #expect(cache.object(forKey: 1) != nil)

        cache.setObject(entry, forKey: 0, cost: 1)

        #expect(cache.object(forKey: 0) === entry)
        #expect(cache.object(forKey: 1) == nil)
    }

    @Test func `Foundation reports to its delegate only what a limit evicts`() {
        let cache = plainCache(costLimit: 3)
        let delegate = Delegate()
        cache.delegate = delegate
        for number in 0..<3 { cache.setObject(Entry(), forKey: number as NSNumber, cost: 1) }
        cache.setObject(Entry(), forKey: 0, cost: 1)
        cache.removeObject(forKey: 1)
        #expect(delegate.evicted == 0)

        cache.setObject(Entry(), forKey: 3, cost: 3)
        #expect(delegate.evicted == 2)

        cache.removeAllObjects()
        #expect(delegate.evicted == 2)
    }

    private func plainCache(costLimit: Int) -> NSCache<NSNumber, Entry> {
        let cache = NSCache<NSNumber, Entry>()
        cache.totalCostLimit = costLimit
        return cache
    }

    private final class Entry {}

    private final class Delegate: NSObject, NSCacheDelegate {
        var evicted = 0

        func cache(_ cache: NSCache<AnyObject, AnyObject>, willEvictObject object: Any) { evicted += 1 }
    }
}
