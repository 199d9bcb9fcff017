import AlcedoCore
import Foundation

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
