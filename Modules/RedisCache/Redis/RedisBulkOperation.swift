import AlcedoCore
import FoundationEssentials

/// An operation that needs many calls on one connection, with one time limit for all of them. Without this limit, a
/// server that responds to each call in time could delay the operation without end.
struct RedisBulkOperation {
    /// The maximum number of keys in one command.
    private static let batchSize = 500
    /// The maximum number of keys that are counted. The limit is needed because each key is held in memory.
    private static let maximumNameCount = 10_000_000
    /// An upper bound of the size of a value in bytes, above Redis's own limit.
    private static let valueByteCount = 1 << 32
    private static let unlink = Data("UNLINK".utf8)

    private let connection: RedisConnection
    private let keys: RedisKeys
    private let clock: any TimeSource
    private let end: Duration

    /// Creates an operation.
    ///
    /// - Parameters:
    ///   - connection: The connection.
    ///   - keys: The keys of the cache.
    ///   - clock: The clock.
    ///   - end: The clock's uptime after which no call begins.
    init(_ connection: RedisConnection, _ keys: RedisKeys, _ clock: any TimeSource, end: Duration) {
        self.connection = connection
        self.keys = keys
        self.clock = clock
        self.end = end
    }

    /// Removes the records in the given sets and the entries that they name. Returns the number of removed entries.
    /// Each batch is removed atomically, so that an entry that is stored meanwhile does not lose its record.
    ///
    /// - Throws: ``RedisFailure``, like all methods of this type.
    func removeAll(recordedIn sets: [Data]) throws(RedisFailure) -> Int {
        let range = ["0", "\(max(1, Self.batchSize / max(1, sets.count)) - 1)"].map { Data($0.utf8) }
        var count = 0
        var sets = sets
        var unremoved: [[Data]] = []
        while !sets.isEmpty {
            let replies = try execute(sets.map { [Data("ZRANGE".utf8), $0] + range })
            let found = zip(sets, replies).map { (set: $0, records: ($1.list ?? []).compactMap(\.bytes)) }
                .filter { !$0.records.isEmpty }
            sets = found.map(\.set)
            guard !sets.isEmpty else { break }
            // Another client may remove the same records first, but then they are not returned again.
            guard found.map(\.records) != unremoved else { throw Self.rejection("index records could not be removed") }
            // A record that is not a file name might name the entry of another cache.
            let entries = found.flatMap(\.records).filter(RedisKeys.isFileName).map {
                keys.entry(named: String(decoding: $0, as: UTF8.self))
            }
            var commands = found.map { [Data("ZREM".utf8), $0.set] + $0.records }
            if !entries.isEmpty { commands.append([Self.unlink] + entries) }
            let results = try transact(commands)
            if !entries.isEmpty { count += Self.number(results.last, upTo: entries.count) }
            let isStuck = zip(found, results).allSatisfy { Self.number($1, upTo: $0.records.count) == 0 }
            unremoved = isStuck ? found.map(\.records) : []
        }
        return count
    }

    /// Removes all entries and records of the cache. Entries are removed first. Each record is then removed together
    /// with its entry, which may have been stored in the meantime. An entry without a record would be missed by a
    /// removal of its resource.
    func removeAll() throws(RedisFailure) {
        try scan(RedisKeys.entryKind) { (names) throws(RedisFailure) in
            try Self.forEachPart(names) { (part) throws(RedisFailure) in _ = try execute([[Self.unlink] + part]) }
        }
        try scan(RedisKeys.recordKind) { (names) throws(RedisFailure) in
            try Self.forEachPart(names) { (part) throws(RedisFailure) in
                do throws(RedisFailure) {
                    _ = try removeAll(recordedIn: Array(part))
                } catch {
                    // The server rejects the commands if a key is not a sorted set. No cache can use such a key, so
                    // the keys are removed without their entries.
                    guard error.kind == .rejected else { throw error }
                    _ = try execute([[Self.unlink] + part])
                }
            }
        }
    }

    /// Returns the number of bytes of all entries and their keys.
    func totalSize() throws(RedisFailure) -> Int {
        var size = 0
        _ = try forEachEntry { (names) throws(RedisFailure) in
            let lengths = try execute(names.map { [Data("STRLEN".utf8), $0] })
            size += names.reduce(0) { $0 + $1.count }
            size += lengths.reduce(0) { $0 + Self.number($1, upTo: Self.valueByteCount) }
        }
        return size
    }

    func count() throws(RedisFailure) -> Int { try forEachEntry { _ in } }

    // MARK: Calls

    private func execute(_ commands: [[Data]]) throws(RedisFailure) -> [RedisReply] {
        try checkTime()
        return try connection.execute(commands)
    }

    /// Runs commands as one atomic step and returns their replies.
    private func transact(_ commands: [[Data]]) throws(RedisFailure) -> [RedisReply] {
        try checkTime()
        return try connection.transact { _ in commands }
    }

    private func checkTime() throws(RedisFailure) {
        guard clock.uptime < end else { throw Self.rejection("the operation exceeded its time limit") }
    }

    /// Returns the number in a reply; 0 if it has none. The number is limited to a valid range, because the server is
    /// not trusted.
    private static func number(_ reply: RedisReply?, upTo limit: Int) -> Int { min(max(0, reply?.number ?? 0), limit) }

    /// Passes the keys of a kind to a closure as they arrive, without blocking the server for other clients. A key may
    /// be passed more than once.
    private func scan(_ kind: String, _ body: ([Data]) throws(RedisFailure) -> Void) throws(RedisFailure) {
        let options = [
            Data("MATCH".utf8), keys.pattern(kind), Data("COUNT".utf8), Data("\(Self.batchSize)".utf8),
        ]
        var cursor: UInt64 = 0
        var cursors: Set<UInt64> = []
        repeat {
            let reply = try execute([[Data("SCAN".utf8), Data("\(cursor)".utf8)] + options]).first?.list ?? []
            // Cursors increase in bit-reversed order, so a repeated cursor would mean an endless scan.
            guard reply.count == 2, let text = reply[0].bytes, let next = UInt64(String(decoding: text, as: UTF8.self)),
                next == 0 || cursors.insert(next).inserted
            else { throw Self.rejection("invalid SCAN reply: the cursor repeats or is not a number") }
            try body((reply[1].list ?? []).compactMap(\.bytes).filter { keys.has($0, of: kind) })
            cursor = next
        } while cursor != 0
    }

    /// Passes the key of each entry to a closure once, in batches, and returns their number.
    private func forEachEntry(_ body: (ArraySlice<Data>) throws(RedisFailure) -> Void) throws(RedisFailure) -> Int {
        var found: Set<Data> = []
        try scan(RedisKeys.entryKind) { (names) throws(RedisFailure) in
            let new = names.filter { found.insert($0).inserted }
            guard found.count <= Self.maximumNameCount else {
                throw Self.rejection("too many keys: more than \(Self.maximumNameCount)")
            }
            try Self.forEachPart(new, body)
        }
        return found.count
    }

    private static func forEachPart(
        _ names: [Data], _ body: (ArraySlice<Data>) throws(RedisFailure) -> Void
    ) throws(RedisFailure) {
        for start in stride(from: 0, to: names.count, by: batchSize) {
            try body(names[start..<min(names.count, start + batchSize)])
        }
    }

    /// Returns an error after which the connection can still be used.
    private static func rejection(_ message: String) -> RedisFailure { RedisFailure(kind: .rejected, message: message) }
}
