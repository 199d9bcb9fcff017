public import AlcedoCore
import FoundationEssentials

/// Encoded bytes on a Redis server, which several processes and machines can share.
///
/// How much is kept, and what goes when there is no more room, is the server's own policy (`maxmemory` and
/// `maxmemory-policy`, such as `allkeys-lru`); expiries are the server's too. Entries carry a checksum: damage is a miss.
///
/// A server that is slow, full, restarting or dead makes misses, never errors: each part of a call has a time limit, and
/// after a few failures in a row the server is left alone for a while, so that nobody waits for it meanwhile. What could
/// not be stored is just not found later; ``statistics`` counts it. A removal that the server did not get removed nothing.
///
/// Calls block threads of their own, as many as there may be connections.
public final class RedisDataCache: DataCaching {
    /// How long the notes about a resource's variants outlive the last store of one.
    private static let notesLife: Duration = .seconds(90 * 24 * 60 * 60)
    private static let batch = 500

    /// How it reaches the server.
    public let options: RedisOptions
    private let pool: RedisPool
    private let names: RedisNames
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
        names = RedisNames(prefix: options.prefix)
    }

    /// What this value has done. Stores that a server did not take are failures.
    public var statistics: DataCacheStatistics { counts.withLock { $0 } }

    public func entry(for key: ImageKey) async -> CachedData? {
        let name = names.entry(key)
        let value = try? await pool.run { try $0.ask([[Self.get, name]]).first?.bytes } ?? nil
        let entry = value.flatMap { RedisEntry.decode($0) }
        let isOver = entry?.expiry.map { $0 <= clock.now } ?? false
        counts.withLock { counts in
            if entry != nil, !isOver { counts.hits += 1 } else { counts.misses += 1 }
            if value != nil, entry == nil { counts.damagedEntries += 1 }
        }
        if value != nil, entry == nil { await remove(key) }
        return isOver ? nil : entry
    }

    public func contains(_ key: ImageKey) async -> Bool {
        let name = names.entry(key)
        return await pool.runToEnd { try $0.ask([[Data("EXISTS".utf8), name]]).first?.number == 1 } ?? false
    }

    /// Stores `entry` under `key`, replacing what is there. When it returns, the entry can be read, unless the server
    /// could not be asked or has no room.
    ///
    /// - Throws: ``DataCacheError`` `tooLarge`, or `CancellationError`.
    public func store(_ entry: CachedData, for key: ImageKey) async throws {
        try Task.checkCancellation()
        let value = RedisEntry.encode(entry)
        guard value.count <= options.maximumEntryByteCount else {
            throw DataCacheError(
                .tooLarge, "\(value.count) bytes are more than the \(options.maximumEntryByteCount) of an entry")
        }
        var command = [Data("SET".utf8), names.entry(key), value]
        if let expiry = entry.expiry {
            let left = Duration.seconds(expiry.timeIntervalSince(clock.now)).milliseconds
            guard left > 0 else {
                await remove(key)
                return
            }
            command += [Data("PX".utf8), Data("\(left)".utf8)]
        }
        let (variants, name) = (names.variants(of: key.resource), Data(key.fileName.utf8))
        let life = Data("\(Self.notesLife.milliseconds)".utf8)
        // The note first: an entry without one would be missed when its resource is removed.
        let commands = [
            [Data("SADD".utf8), variants, name], [Data("PEXPIRE".utf8), variants, life], command,
        ]
        let stored = try await pool.run { try $0.ask(commands) } != nil
        counts.withLock { counts in
            if stored { counts.stores += 1 } else { counts.failures += 1 }
        }
    }

    @discardableResult
    public func remove(_ key: ImageKey) async -> Bool {
        let (name, variants, note) = (names.entry(key), names.variants(of: key.resource), Data(key.fileName.utf8))
        let replies = await pool.runToEnd { connection in
            try connection.ask([[Self.unlink, name], [Data("SREM".utf8), variants, note]])
        }
        return replies?.first?.number ?? 0 > 0
    }

    @discardableResult
    public func removeAll(of resource: ResourceKey) async -> Int {
        let (variants, names) = (names.variants(of: resource), names)
        let removed = await pool.runToEnd { connection in
            let notes = try connection.ask([[Data("SMEMBERS".utf8), variants]]).first?.list ?? []
            let entries = notes.compactMap { $0.bytes.map { names.entry(named: String(decoding: $0, as: UTF8.self)) } }
            let count = try Self.unlink(entries, connection)
            _ = try connection.ask([[Self.unlink, variants]])
            return count
        }
        return removed ?? 0
    }

    /// Removes everything that has the prefix. O(names on the server).
    public func removeAll() async {
        let names = names
        _ = await pool.runToEnd { connection in
            try Self.unlink(Self.all(names.pattern(""), connection), connection)
        }
    }

    /// Bytes of the entries and their names, without what the server adds. O(names on the server).
    public var totalSize: Int {
        get async {
            let names = names
            let size = await pool.runToEnd { connection in
                let entries = try Self.all(names.pattern("e:"), connection)
                var size = entries.reduce(0) { $0 + $1.count }
                for start in stride(from: 0, to: entries.count, by: Self.batch) {
                    let part = entries[start..<min(entries.count, start + Self.batch)]
                    let lengths = try connection.ask(part.map { [Data("STRLEN".utf8), $0] })
                    size += lengths.reduce(0) { $0 + ($1.number ?? 0) }
                }
                return size
            }
            return size ?? 0
        }
    }

    /// O(names on the server).
    public var count: Int {
        get async {
            let names = names
            return await pool.runToEnd { try Self.all(names.pattern("e:"), $0).count } ?? 0
        }
    }

    // MARK: Commands

    private static let get = Data("GET".utf8)
    private static let unlink = Data("UNLINK".utf8)

    private static func unlink(_ keys: [Data], _ connection: RedisConnection) throws -> Int {
        var count = 0
        for start in stride(from: 0, to: keys.count, by: batch) {
            let part = keys[start..<min(keys.count, start + batch)]
            count += try connection.ask([[unlink] + part]).first?.number ?? 0
        }
        return count
    }

    /// The names that match, without blocking the server for others.
    private static func all(_ pattern: Data, _ connection: RedisConnection) throws -> [Data] {
        var found: Set<Data> = []
        var cursor = Data("0".utf8)
        repeat {
            let command = [
                Data("SCAN".utf8), cursor, Data("MATCH".utf8), pattern, Data("COUNT".utf8), Data("\(batch)".utf8),
            ]
            let reply = try connection.ask([command]).first?.list ?? []
            guard reply.count == 2, let next = reply[0].bytes else { break }
            found.formUnion((reply[1].list ?? []).compactMap(\.bytes))
            cursor = next
        } while cursor != Data("0".utf8)
        return Array(found)
    }
}
