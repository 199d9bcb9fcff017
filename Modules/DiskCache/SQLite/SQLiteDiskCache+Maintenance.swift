public import AlcedoCore

extension SQLiteDiskCache {
    public var statistics: DataCacheStatistics { storage.counts.statistics }

    public func items() async -> [DataCacheItem] {
        await storage.writeUses()
        return await storage.read { [storage] queries in
            let now = storage.now
            return try queries.items { $0.areOver(storage.limits, at: now) }
        } ?? []
    }

    public func key(named name: String) async -> ImageKey? {
        let key = await storage.read { [storage] queries -> ImageKey? in
            guard let times = try queries.times(named: name, uses: storage.uses),
                !times.areOver(storage.limits, at: storage.now)
            else { return nil }
            return try queries.key(named: name)
        }
        return key.flatMap { $0 }
    }

    @discardableResult
    public func trim(toSize size: Int, count: Int) async -> DataCacheTrimReport {
        await storage.trim(toSize: size, count: count)
    }

    @discardableResult
    public func clean() async -> DataCacheTrimReport { await storage.clean() }

    public func observeTrims(_ handler: @escaping @Sendable (DataCacheTrimReport) -> Void) -> DataCacheTrimObservation {
        storage.trims.add(handler)
    }

    /// Reads every entry, and removes those that are damaged, and files that belong to none. A database whose own
    /// structure is damaged is replaced by an empty one.
    @discardableResult
    public func verify() async -> DataCacheVerification { await storage.verify() }
}
