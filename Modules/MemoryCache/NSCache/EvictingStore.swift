import AlcedoCore
import AlcedoRuntime
import Foundation

/// NSCache, and its habit to say what it evicted.
///
/// `@unchecked` because NSCache is not declared `Sendable`. NSCache looks up and changes its entries under a lock of its own,
/// so ``box(for:)`` may come from any thread. Its limits have no lock: they are read and written by calls that change
/// something, and those ``NSCacheBackend`` makes under the lock around its records, one at a time.
final class EvictingStore: @unchecked Sendable {
    private let cache = NSCache<ImageKeyObject, ImageBox>()
    private let log = EvictionLog()
    private let costLimit: Int

    /// - Parameters:
    ///   - costLimit: In bytes. Nought is no limit to NSCache: nothing may be stored then.
    ///   - countLimit: Number of images. Nought likewise.
    init(costLimit: Int, countLimit: Int) {
        self.costLimit = costLimit
        cache.totalCostLimit = costLimit
        cache.countLimit = countLimit
        cache.delegate = log
    }

    /// NSCache's list is linked strongly in both directions and has no `deinit`: a cache of two entries or more that goes
    /// without having been emptied leaks them all (measured on Swift 6.3.1).
    deinit { cache.removeAllObjects() }

    func box(for key: ImageKey) -> ImageBox? { cache.object(forKey: ImageKeyObject(key)) }

    /// Stores `box`, whose cost must not exceed the limit, and returns what NSCache evicted for it: it may be `box` itself.
    func set(_ box: ImageBox) -> [ImageBox] {
        cache.setObject(box, forKey: box.key, cost: box.cost)
        return log.take()
    }

    func remove(_ box: ImageBox) { cache.removeObject(forKey: box.key) }

    func removeAll() { cache.removeAllObjects() }

    /// Makes NSCache evict until the rest cost at most `cost` bytes, and returns what went.
    ///
    /// NSCache looks at its limits only when something is stored. `box`, which is stored already, is stored again: that
    /// changes neither the sum nor its place.
    ///
    /// - Parameter cost: More than nought, which would be no limit.
    func evict(toCost cost: Int, storingAgain box: ImageBox) -> [ImageBox] {
        cache.totalCostLimit = min(cost, costLimit)
        defer { cache.totalCostLimit = costLimit }
        return set(box)
    }
}

/// Listens to what NSCache evicts.
///
/// Measured on Swift 6.3.1: NSCache calls its delegate for each object that a limit makes go, during `setObject`, on the
/// thread of that call, under NSCache's own lock, which is not recursive: a delegate that asks the cache anything waits for
/// ever. So this one takes note and nothing else. Removing, replacing and emptying do not call it.
private final class EvictionLog: NSObject, NSCacheDelegate, Sendable {
    private let boxes = Locked<[ImageBox]>([])

    func cache(_ cache: NSCache<AnyObject, AnyObject>, willEvictObject object: Any) {
        guard let box = object as? ImageBox else { return }
        boxes.withLock { $0.append(box) }
    }

    /// What was evicted since the last call, in order.
    func take() -> [ImageBox] {
        boxes.withLock { boxes in
            defer { boxes = [] }
            return boxes
        }
    }
}

/// An image as NSCache takes it: an object. It knows its key, because NSCacheDelegate is told the object only.
final class ImageBox: Sendable {
    let key: ImageKeyObject
    let image: DecodedImage
    /// In bytes; at least nought.
    let cost: Int

    init(_ image: DecodedImage, for key: ImageKey) {
        self.key = ImageKeyObject(key)
        self.image = image
        cost = max(0, image.cost)
    }
}

/// A key as NSCache takes it: an object, and one of NSObject, because NSCache tells all others apart by identity.
///
/// The hash is the one that ``ImageKey`` keeps ready. The key is no part of ``ImageBox``: NSCache keeps the first key object
/// when an image is replaced, and with it would keep the image.
final class ImageKeyObject: NSObject, Sendable {
    let key: ImageKey

    init(_ key: ImageKey) { self.key = key }

    override var hash: Int { key.hashValue }

    override func isEqual(_ object: Any?) -> Bool { (object as? ImageKeyObject)?.key == key }
}
