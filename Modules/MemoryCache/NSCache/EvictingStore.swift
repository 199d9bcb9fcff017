import AlcedoCore
import AlcedoRuntime
import Foundation

/// An `NSCache` that returns the images it evicts.
///
/// `@unchecked` because `NSCache` is not declared `Sendable`. `NSCache` looks up and changes its entries under its own
/// lock, so any thread may call ``box(for:)``. Its limits have no lock. They are read and written only by calls that
/// change the cache, and ``NSCacheBackend`` makes these one at a time, under the lock around its records.
final class EvictingStore: @unchecked Sendable {
    private let cache = NSCache<ImageKeyObject, ImageBox>()
    private let log = EvictionLog()
    private let costLimit: Int

    /// Creates an empty store.
    ///
    /// For `NSCache`, a limit of zero means no limit. The caller must not store anything in a store with such a limit.
    ///
    /// - Parameters:
    ///   - costLimit: The maximum cost of all images, in bytes.
    ///   - countLimit: The maximum number of images.
    init(costLimit: Int, countLimit: Int) {
        self.costLimit = costLimit
        cache.totalCostLimit = costLimit
        cache.countLimit = countLimit
        cache.delegate = log
    }

    /// Empties the cache. The entries of `NSCache` reference each other strongly in both directions, and it has no
    /// deinitializer: a cache with two or more entries that is not emptied leaks all of them (measured on Swift 6.3.1).
    deinit { cache.removeAllObjects() }

    func box(for key: ImageKey) -> ImageBox? { cache.object(forKey: ImageKeyObject(key)) }

    /// Stores `box`, whose cost must not exceed the limit. Returns the boxes that `NSCache` evicted, which may include
    /// `box`.
    func set(_ box: ImageBox) -> [ImageBox] {
        cache.setObject(box, forKey: box.key, cost: box.cost)
        return log.take()
    }

    func remove(_ box: ImageBox) { cache.removeObject(forKey: box.key) }

    func removeAll() { cache.removeAllObjects() }

    /// Makes `NSCache` evict images until the remaining images cost at most `cost` bytes. Returns the evicted boxes.
    ///
    /// `NSCache` checks its limits only when an object is stored, so this function stores `box` again. That changes
    /// neither the total cost nor the position of `box`.
    ///
    /// - Parameters:
    ///   - cost: The maximum cost. It must be greater than zero, because zero would mean no limit.
    ///   - box: A box that is already stored.
    func evict(toCost cost: Int, storingAgain box: ImageBox) -> [ImageBox] {
        cache.totalCostLimit = min(cost, costLimit)
        defer { cache.totalCostLimit = costLimit }
        return set(box)
    }
}

/// A delegate that records the objects `NSCache` evicts.
///
/// Measured on Swift 6.3.1: `NSCache` calls its delegate for each object that a limit evicts, during `setObject`, on
/// the calling thread and under its own lock, which is not recursive. A delegate that calls the cache deadlocks, so
/// this one only records the object. Removing, replacing and emptying do not call the delegate.
private final class EvictionLog: NSObject, NSCacheDelegate, Sendable {
    private let boxes = Locked<[ImageBox]>([])

    func cache(_ cache: NSCache<AnyObject, AnyObject>, willEvictObject object: Any) {
        guard let box = object as? ImageBox else { return }
        boxes.withLock { $0.append(box) }
    }

    /// Removes and returns the boxes evicted since the last call, in order.
    func take() -> [ImageBox] {
        boxes.withLock { boxes in
            defer { boxes = [] }
            return boxes
        }
    }
}

/// An image as an object for `NSCache`. It holds its key, because `NSCacheDelegate` receives the object only.
final class ImageBox: Sendable {
    let key: ImageKeyObject
    let image: DecodedImage
    /// The cost in bytes, at least zero.
    let cost: Int

    init(_ image: DecodedImage, for key: ImageKey) {
        self.key = ImageKeyObject(key)
        self.image = image
        cost = max(0, image.cost)
    }
}

/// A key as an object for `NSCache`. It is an `NSObject`, because `NSCache` compares all other objects by identity.
///
/// The hash is the one that ``/AlcedoCore/ImageKey`` stores. ``ImageBox`` is not its own key: when an image is
/// replaced, `NSCache` keeps the first key object, and a box used as the key would keep the old image in memory.
final class ImageKeyObject: NSObject, Sendable {
    let key: ImageKey

    init(_ key: ImageKey) { self.key = key }

    override var hash: Int { key.hashValue }

    override func isEqual(_ object: Any?) -> Bool { (object as? ImageKeyObject)?.key == key }
}
