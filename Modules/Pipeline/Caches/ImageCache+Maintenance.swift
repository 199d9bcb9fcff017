import AlcedoCore

extension ImageCache {
    // MARK: Removing

    /// Removes one image from memory, before the first suspension point, and then from disk.
    ///
    /// - Parameters:
    ///   - key: The key of the image.
    ///   - processorIdentifier: The identifier of the processing that was applied. Default: empty, for an unprocessed
    ///     image.
    ///   - layers: The layers to remove the image from, as for ``removeAll(from:)``. Default: all.
    /// - Returns: Whether one of the layers had the image.
    @discardableResult
    public func remove(
        forKey key: String, processorIdentifier: String = "", from layers: CachedLayers = .all
    ) async -> Bool {
        let key = Self.imageKey(key, processorIdentifier: processorIdentifier)
        let (memory, disk) = parts(layers)
        var wasInMemory = false
        let removal = generations.submit(.resource(key.resource)) {
            wasInMemory = memory?.remove(key) ?? false
        } _: {
            await disk?.remove(key) ?? false
        }
        let wasOnDisk = await removal.value
        return wasInMemory || wasOnDisk
    }

    /// Removes the original of a key and all images made from it, as ``remove(forKey:processorIdentifier:from:)`` does
    /// for one image. Returns the number of images that were removed from memory or from disk, whichever is greater.
    @discardableResult
    public func removeAll(forKey key: String) async -> Int {
        let resource = ResourceKey(key)
        let (memory, disk) = (memoryCache, diskCache)
        var count = 0
        let removal = generations.submit(.resource(resource)) {
            count = memory?.removeAll(of: resource) ?? 0
        } _: {
            await disk?.removeAll(of: resource) ?? 0
        }
        return await max(count, removal.value)
    }

    /// Removes everything from memory, before the first suspension point, and then from disk.
    ///
    /// Reads from disk that are in progress do not store their images in memory.
    ///
    /// - Parameter layers: The layers to empty. `processed` and `original` are one layer here, and `response` has no
    ///   effect. Default: all.
    public func removeAll(from layers: CachedLayers = .all) async {
        let (memory, disk) = parts(layers)
        guard let disk else { return generations.recordChange(of: .everything) { memory?.removeAll() } }
        await generations.submit(.everything) {
            memory?.removeAll()
        } _: {
            await disk.removeAll()
        }.value
    }

    private func parts(_ layers: CachedLayers) -> (memory: (any MemoryCaching)?, disk: (any MeasurableDataCache)?) {
        (layers.contains(.memory) ? memoryCache : nil, layers.isDisjoint(with: .disk) ? nil : diskCache)
    }

    // MARK: Maintaining

    /// Removes expired entries from disk, and entries beyond the disk cache's limits. If any were removed, calls the
    /// `onClean` closure of the initializer.
    ///
    /// The number of removed entries depends on the disk cache. A `trimTarget` of one half in its limits removes as
    /// many as Kingfisher.
    ///
    /// - Returns: The ``/AlcedoCore/ImageKey/fileName`` of each removed entry. Empty when the disk cache has no
    ///   ``/AlcedoCore/MeasurableDataCache/maintenance``; it is then only flushed.
    @discardableResult
    public func cleanExpired() async -> [String] {
        await generations.settle(.everything)
        guard let disk = diskCache?.maintenance else {
            await diskCache?.flush()
            return []
        }
        return await disk.trim(toSize: nil, count: nil).removals.map(\.name)
    }

    /// The number of bytes that the entries on disk occupy, after pending writes have ended. Zero without a disk cache.
    public var totalDiskSize: Int {
        get async {
            await generations.settle(.everything)
            return await diskCache?.totalSize ?? 0
        }
    }

    /// Returns when all changes so far have ended and the disk cache is flushed.
    public func flush() async {
        await generations.settle(.everything)
        await diskCache?.flush()
    }
}
