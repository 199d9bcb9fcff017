public import AlcedoCore
import AlcedoRuntime
import FoundationEssentials

/// A data cache on a Redis server, which several processes and machines can share.
///
/// ```swift
/// import AlcedoCore
/// import AlcedoRedisCache
/// import FoundationEssentials
///
/// func store(_ data: Data, for key: ImageKey) async throws -> CachedData? {
///     let cache = RedisDataCache(RedisOptions(prefix: "thumbnails:"))
///     try await cache.store(CachedData(data), for: key)
///     return await cache.entry(for: key)
/// }
/// ```
///
/// The server's `maxmemory` and `maxmemory-policy` determine how much it keeps and which entries it evicts. A damaged
/// or misplaced entry is a miss.
///
/// A server that is slow, full, restarting or dead causes misses, not errors: each call has a time limit. An entry that
/// could not be stored is a later miss, and ``statistics`` counts it as a failure. A removal that does not reach the
/// server removes nothing. Calls block threads of the cache, one for each connection. Removals, ``count`` and
/// ``totalSize`` wait for a connection without a limit. The page of the module has the times and the limits.
public final class RedisDataCache: MeasurableDataCache {
    /// The lifetime in milliseconds of the record of an entry without an expiry: 90 days.
    private static let recordLifetime = 90 * 24 * 60 * 60 * 1000
    /// The number of milliseconds by which the lifetime of a record exceeds that of its entry, if the entry has an
    /// expiry. The record's lifetime begins before the entry is stored, so without this addition the record would
    /// expire first.
    private static let recordLifetimeSlack = 60 * 1000

    package let options: RedisOptions
    private let pool: RedisPool
    private let keys: RedisKeys
    private let clock: any TimeSource
    private let counts = Locked(CacheStatistics())

    /// Creates a cache. It connects at the first call.
    ///
    /// - Parameters:
    ///   - options: The server and the limits. Default: a server on this machine.
    ///   - clock: The clock for expiries, for pauses after failures, for the wait for a free connection and for the
    ///     time limit of bulk operations. Default: the system's clock.
    public init(_ options: RedisOptions = RedisOptions(), clock: any TimeSource = SystemClock()) {
        self.options = options
        self.clock = clock
        pool = RedisPool(options, clock: clock)
        keys = RedisKeys(prefix: options.prefix)
    }

    /// The statistics of this cache object. Stores that the server did not accept count as failures.
    public var statistics: CacheStatistics { counts.withLock { $0 } }

    /// Whether the server is failing. After `maximumFailureCount` consecutive failures, no calls are sent for the time
    /// `retryDelay`. Then one trial call is sent. If it fails, the delay starts again. If it succeeds, all calls are
    /// sent again.
    public var isServerFailing: Bool { pool.isServerFailing }

    /// Returns the entry for a key; nil if it is missing, expired, damaged or too large. Also returns nil if the server
    /// is unavailable or overloaded or does not respond in time, or if the task is canceled before the read begins. A
    /// damaged entry is removed.
    public func entry(for key: ImageKey) async -> CachedData? {
        let limit = max(0, options.maximumEntryByteCount)
        // One byte more than the limit is requested, which detects an entry that is too large without reading all of
        // it. Such an entry is not removed, because another cache may have a higher limit.
        let command = [Data("GETRANGE".utf8), keys.entry(key), Data("0".utf8), Data("\(limit)".utf8)]
        let found = try? await pool.run { try $0.execute([command]).first?.bytes } ?? nil
        // The server returns an empty value for a missing key; a valid entry is never empty.
        let value = found.flatMap { $0.isEmpty || $0.count > limit ? nil : $0 }
        let decoded = value.flatMap { RedisEntry.decode($0, for: key) }
        let entry = decoded?.entry
        let isExpired =
            decoded.flatMap { found in
                found.entry.expiry.map {
                    DataCacheLimits.isPast(Timestamp($0), storedAt: found.storedAt, now: Timestamp(clock.now))
                }
            } ?? false
        counts.withLock { counts in
            if entry != nil, !isExpired { counts.hits += 1 } else { counts.misses += 1 }
            if value != nil, entry == nil { counts.damagedEntries += 1 }
        }
        // The removal has the time limits of a read, because the caller waits for it.
        if value != nil, entry == nil { _ = try? await pool.run(removal(of: key)) }
        return isExpired ? nil : entry
    }

    /// Returns whether the server has an entry for a key, also in a canceled task. Does not check that the entry is
    /// valid. Returns false if the server is unavailable or overloaded or does not respond in time.
    public func contains(_ key: ImageKey) async -> Bool {
        let name = keys.entry(key)
        // A separate task, so that a canceled caller receives the correct result as well.
        return await Task {
            try? await pool.run { try $0.execute([[Data("EXISTS".utf8), name]]).first?.number == 1 }
        }.value ?? false
    }

    /// Stores an entry and replaces an existing one. If the entry has expired already, the existing entry is removed
    /// instead.
    ///
    /// After the method returns, the entry can be read, unless the server is unavailable, overloaded or full. In these
    /// cases, no error is thrown, and ``statistics`` counts a failure.
    ///
    /// - Throws: ``/AlcedoCore/DataCacheError`` with `tooLarge` if the entry exceeds `maximumEntryByteCount`;
    ///   `CancellationError` if the task is canceled before the store begins or while it waits for a connection.
    public func store(_ entry: CachedData, for key: ImageKey) async throws {
        try Task.checkCancellation()
        let byteCount = RedisEntry.byteCount(of: entry)
        guard byteCount <= options.maximumEntryByteCount else {
            throw DataCacheError(
                .tooLarge, "an entry of \(byteCount) bytes exceeds the limit of \(options.maximumEntryByteCount) bytes")
        }
        var expiryArguments: [Data] = []
        var recordLifetime = Self.recordLifetime
        let now = Timestamp(clock.now)
        if let expiry = entry.expiry {
            let lifetime = Timestamp(expiry).milliseconds - now.milliseconds
            guard lifetime > 0 else {
                await remove(key)
                return
            }
            expiryArguments = [Data("PX".utf8), Data("\(lifetime)".utf8)]
            recordLifetime = Int(lifetime) + Self.recordLifetimeSlack
        }
        let record = EntryRecord(
            name: key.fileName, lifetime: recordLifetime, variants: keys.variants(of: key.resource))
        let (name, options) = (keys.entry(key), expiryArguments)
        let replies = try await pool.run { connection in
            // The entry is encoded here, so that a store that waits for a connection does not hold it twice.
            let set = [Data("SET".utf8), name, RedisEntry.encode(entry, for: key, at: now)] + options
            // The entry and its record are stored atomically, because a removal of the resource would miss an entry
            // without a record.
            return try connection.transact(watching: record.variants, after: record.queries) {
                (replies) throws(RedisFailure) in try record.changes(replies) + [set]
            }
        }
        counts.withLock { counts in
            if replies != nil { counts.stores += 1 } else { counts.failures += 1 }
        }
    }

    /// Removes the entry for a key, also in a canceled task.
    ///
    /// - Returns: Whether an entry was removed; false if the server did not respond.
    @discardableResult
    public func remove(_ key: ImageKey) async -> Bool {
        let replies = await pool.runToEnd(removal(of: key))
        return replies?.first?.number ?? 0 > 0
    }

    /// Returns a function that removes an entry and its record in one atomic step. In two steps, a concurrent store
    /// could lose its record and keep its entry.
    private func removal(of key: ImageKey) -> @Sendable (RedisConnection) throws -> [RedisReply] {
        let commands = [
            [Data("UNLINK".utf8), keys.entry(key)],
            [Data("ZREM".utf8), keys.variants(of: key.resource), Data(key.fileName.utf8)],
        ]
        return { try $0.transact { _ in commands } }
    }

    /// Removes all entries of a resource. They are found by their records on the server. The server may evict records
    /// as it evicts entries, and the record of an entry without an expiry may expire 90 days after the entry was
    /// stored. An entry without a record is not removed by this method.
    ///
    /// - Returns: The number of removed entries; 0 if the operation failed, although some entries may have been
    ///   removed. If a connection ends and the operation continues on another one, only the entries removed there are
    ///   counted.
    @discardableResult
    public func removeAll(of resource: ResourceKey) async -> Int {
        let variants = keys.variants(of: resource)
        return await runBulkOperation { try $0.removeAll(recordedIn: [variants]) } ?? 0
    }

    /// Removes all entries with the cache's prefix, and none of another cache with a longer prefix. Some entries remain
    /// if the removal fails or takes longer than `bulkOperationTimeout`.
    ///
    /// - Complexity: O(*n*), where *n* is the number of keys on the server.
    public func removeAll() async {
        _ = await runBulkOperation { try $0.removeAll() }
    }

    /// The number of bytes of all entries and their keys, without the server's overhead; 0 if the server cannot
    /// determine it within `bulkOperationTimeout`, or has more than ten million entries.
    ///
    /// - Complexity: O(*n*), where *n* is the number of keys on the server.
    public var totalSize: Int {
        get async { await runBulkOperation { try $0.totalSize() } ?? 0 }
    }

    /// The number of entries; 0 if the server cannot determine it within `bulkOperationTimeout`, or has more than ten
    /// million entries.
    ///
    /// - Complexity: O(*n*), where *n* is the number of keys on the server.
    public var count: Int {
        get async { await runBulkOperation { try $0.count() } ?? 0 }
    }

    private func runBulkOperation<Value: Sendable>(_ work: @escaping @Sendable (RedisBulkOperation) throws -> Value)
        async -> Value?
    {
        let (keys, clock, limit) = (keys, clock, options.bulkOperationTimeout)
        // The time limit begins with the first connection. If that connection ends, the work is repeated on the next
        // one within the same limit.
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
