public import AlcedoCore
import AlcedoRuntime
import FoundationEssentials

/// Encoded bytes on a Redis server, which several processes and machines can share.
///
/// How much is kept, and what goes when there is no more room, is the server's own policy (`maxmemory` and
/// `maxmemory-policy`, such as `allkeys-lru`); expiries are the server's too. Entries carry a checksum: damage is a miss.
///
/// A server that is slow, full, restarting or dead makes misses, never errors: each call has a time limit, as have its parts,
/// and after a few failures in a row the server is left alone for a while, so that nobody waits for it meanwhile. A server
/// that is asked more than it answers makes misses of what would wait too long. What could not be stored is just not found
/// later; ``statistics`` counts it. A removal that the server did not get removed nothing.
///
/// Calls block threads of their own, as many as there may be connections. Reads and stores wait for one no longer than for
/// an answer; removals, ``count`` and ``totalSize`` as long as it takes. Those that need many calls have a time limit for
/// all together, `bulkOperationTimeout`.
public final class RedisDataCache: MeasurableDataCache {
    /// How long it is recorded that a resource has an entry which has no expiry, in milliseconds.
    private static let recordLifetime = 90 * 24 * 60 * 60 * 1000
    /// How long that of another is kept beyond it, which the server may get later than the record.
    private static let recordLifetimeSlack = 60 * 1000

    /// How it reaches the server.
    package let options: RedisOptions
    private let pool: RedisPool
    private let keys: RedisKeys
    private let clock: any TimeSource
    private let counts = Locked(DataCacheStatistics())

    /// Makes a cache. Connects at the first use.
    ///
    /// - Parameters:
    ///   - options: Which server, and within what times.
    ///   - clock: Dates expiries, and the rest of a server that fails.
    public init(_ options: RedisOptions = RedisOptions(), clock: any TimeSource = SystemClock()) {
        self.options = options
        self.clock = clock
        pool = RedisPool(options, clock: clock)
        keys = RedisKeys(prefix: options.prefix)
    }

    /// What this value has done. Stores that a server did not take are failures.
    public var statistics: DataCacheStatistics { counts.withLock { $0 } }

    /// Whether the server failed so often that it is left alone, or only tried, until it answers again.
    public var isServerFailing: Bool { pool.isServerFailing }

    public func entry(for key: ImageKey) async -> CachedData? {
        let limit = max(0, options.maximumEntryByteCount)
        // One byte more than there may be tells what is too large, whatever its size. It may be right for another cache,
        // so it stays.
        let command = [Data("GETRANGE".utf8), keys.entry(key), Data("0".utf8), Data("\(limit)".utf8)]
        let found = try? await pool.run { try $0.execute([command]).first?.bytes } ?? nil
        // So the server answers for what is not there; no entry is empty.
        let value = found.flatMap { $0.isEmpty || $0.count > limit ? nil : $0 }
        let entry = value.flatMap { RedisEntry.decode($0) }
        let isOver = entry?.expiry.map { $0 <= clock.now } ?? false
        counts.withLock { counts in
            if entry != nil, !isOver { counts.hits += 1 } else { counts.misses += 1 }
            if value != nil, entry == nil { counts.damagedEntries += 1 }
        }
        // Who reads waits for this no longer than for the entry.
        if value != nil, entry == nil { _ = try? await pool.run(removal(of: key)) }
        return isOver ? nil : entry
    }

    public func contains(_ key: ImageKey) async -> Bool {
        let name = keys.entry(key)
        // In a task of its own, because a cancelled one learns the truth, too.
        return await Task {
            try? await pool.run { try $0.execute([[Data("EXISTS".utf8), name]]).first?.number == 1 }
        }.value ?? false
    }

    /// Stores `entry` under `key`, replacing what is there. When it returns, the entry can be read, unless the server
    /// could not be asked or has no room.
    ///
    /// - Throws: ``DataCacheError`` `tooLarge`, or `CancellationError`.
    public func store(_ entry: CachedData, for key: ImageKey) async throws {
        try Task.checkCancellation()
        let byteCount = RedisEntry.byteCount(of: entry)
        guard byteCount <= options.maximumEntryByteCount else {
            throw DataCacheError(
                .tooLarge, "\(byteCount) bytes are more than the \(options.maximumEntryByteCount) of an entry")
        }
        var ending: [Data] = []
        var recordLifetime = Self.recordLifetime
        if let expiry = entry.expiry {
            let left = Timestamp(expiry).milliseconds - Timestamp(clock.now).milliseconds
            guard left > 0 else {
                await remove(key)
                return
            }
            ending = [Data("PX".utf8), Data("\(left)".utf8)]
            recordLifetime = Int(left) + Self.recordLifetimeSlack
        }
        let record = EntryRecord(
            name: key.fileName, lifetime: recordLifetime, variants: keys.variants(of: key.resource))
        let (name, options) = (keys.entry(key), ending)
        let replies = try await pool.run { connection in
            // Encoded here, so that a store that waits for a connection does not hold the entry twice.
            let set = [Data("SET".utf8), name, RedisEntry.encode(entry)] + options
            // One step with the record: a removal of the resource would miss an entry that has none.
            return try connection.transact(watching: record.variants, after: record.queries) {
                (replies) throws(RedisFailure) in try record.changes(replies) + [set]
            }
        }
        counts.withLock { counts in
            if replies != nil { counts.stores += 1 } else { counts.failures += 1 }
        }
    }

    @discardableResult
    public func remove(_ key: ImageKey) async -> Bool {
        let replies = await pool.runToEnd(removal(of: key))
        return replies?.first?.number ?? 0 > 0
    }

    /// Removes the entry and its record in one step, so that the record of a store in between does not go alone.
    private func removal(of key: ImageKey) -> @Sendable (RedisConnection) throws -> [RedisReply] {
        let commands = [
            [Data("UNLINK".utf8), keys.entry(key)],
            [Data("ZREM".utf8), keys.variants(of: key.resource), Data(key.fileName.utf8)],
        ]
        return { try $0.transact { _ in commands } }
    }

    /// Finds the entries by records on the server, which may evict those as it does entries, and which end 90 days after the
    /// last entry without an expiry was stored: an entry that has lost its record stays until the server removes it.
    ///
    /// - Returns: How many were removed; 0 when it did not come to its end, though some may have gone, and those of its last
    ///   part where a connection ended between two.
    @discardableResult
    public func removeAll(of resource: ResourceKey) async -> Int {
        let variants = keys.variants(of: resource)
        return await runBulkOperation { try $0.removeAll(recordedIn: [variants]) } ?? 0
    }

    /// Removes all entries of the prefix, and none of a longer one. O(names on the server). Some stay when it takes longer
    /// than `bulkOperationTimeout`.
    public func removeAll() async {
        _ = await runBulkOperation { try $0.removeAll() }
    }

    /// Bytes of the entries and their names, without what the server adds; 0 when the server cannot tell within
    /// `bulkOperationTimeout`, or has more than ten million. O(names on the server).
    public var totalSize: Int {
        get async { await runBulkOperation { try $0.totalSize() } ?? 0 }
    }

    /// 0 when the server cannot tell within `bulkOperationTimeout`, or has more than ten million. O(names on the
    /// server).
    public var count: Int {
        get async { await runBulkOperation { try $0.count() } ?? 0 }
    }

    private func runBulkOperation<Value: Sendable>(_ work: @escaping @Sendable (RedisBulkOperation) throws -> Value)
        async -> Value?
    {
        let (keys, clock, limit) = (keys, clock, options.bulkOperationTimeout)
        // It begins when there is a connection, and goes on over the next one, should that end.
        let start = Locked<Duration?>(nil)
        return await pool.runToEnd { connection in
            let end = start.withLock { start in
                let first = start ?? clock.uptime
                start = first
                return first + limit
            }
            return try work(RedisBulkOperation(connection, keys, clock, end: end))
        }
    }
}
