import AlcedoCore
import Foundation

/// Listens to what NSCache evicts.
///
/// Measured on Swift 6.3.1: NSCache calls its delegate for each object that a limit makes go, during `setObject`, on the
/// thread of that call, under NSCache's own lock, which is not recursive: a delegate that asks the cache anything waits for
/// ever. So this one takes note and nothing else. Removing, replacing and emptying do not call it.
final class EvictionLog: NSObject, NSCacheDelegate, Sendable {
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
