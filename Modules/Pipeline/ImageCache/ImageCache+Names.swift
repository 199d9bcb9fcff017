public import AlcedoCore
public import FoundationEssentials

extension ImageCache {
    /// The name of an image as Kingfisher spells it: `key@processor`, or the key alone for the original.
    ///
    /// For display. Two images can share one, so the caches go by ``imageKey(_:processorIdentifier:)``.
    public static func computedKey(_ key: String, processorIdentifier: String = "") -> String {
        processorIdentifier.isEmpty ? key : "\(key)@\(processorIdentifier)"
    }

    /// What an image is stored under. With the text of an `http` URL as key, the originals are those of an
    /// ``ImagePipeline``.
    public static func imageKey(_ key: String, processorIdentifier: String = "") -> ImageKey {
        ImageKey(ResourceKey(key), variant: processorIdentifier)
    }

    /// The name of the file that keeps an image, without the path extension that a disk cache may add. Whether there is one
    /// or not.
    public static func fileName(forKey key: String, processorIdentifier: String = "") -> String {
        imageKey(key, processorIdentifier: processorIdentifier).fileName
    }

    /// Where the file of an image is, or would be; nil when the disk cache cannot tell. See ``Configuration/filePath``.
    public func path(forKey key: String, processorIdentifier: String = "") -> URL? {
        configuration.filePath?(Self.imageKey(key, processorIdentifier: processorIdentifier))
    }
}
