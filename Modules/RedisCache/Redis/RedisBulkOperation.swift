import AlcedoCore
import FoundationEssentials

/// What takes many calls on one connection, for all of which there is one time, as a server that answers each in time may
/// answer without end.
struct RedisBulkOperation {
    /// Names in one command.
    private static let batchSize = 500
    /// Names that are counted at most, as each is remembered.
    private static let maximumNameCount = 10_000_000
    /// No value of a server is larger.
    private static let valueByteCount = 1 << 32
    private static let unlink = Data("UNLINK".utf8)

    private let connection: RedisConnection
    private let keys: RedisKeys
    private let clock: any TimeSource
    private let end: Duration

    /// - Parameter end: By the clock's uptime; no call begins after it.
    init(_ connection: RedisConnection, _ keys: RedisKeys, _ clock: any TimeSource, end: Duration) {
        self.connection = connection
        self.keys = keys
        self.clock = clock
        self.end = end
    }

    /// Removes the entries that the records in some sets name, and the records, and returns how many entries there were.
    /// Each part goes in one step, so that no record goes alone whose entry is stored in between.
    ///
    /// - Throws: ``RedisFailure``, as all here.
    func removeAll(recordedIn sets: [Data]) throws(RedisFailure) -> Int {
        let range = ["0", "\(max(1, Self.batchSize / max(1, sets.count)) - 1)"].map { Data($0.utf8) }
        var count = 0
        var sets = sets
        var left: [[Data]] = []
        while !sets.isEmpty {
            let replies = try execute(sets.map { [Data("ZRANGE".utf8), $0] + range })
            let found = zip(sets, replies).map { (set: $0, records: ($1.list ?? []).compactMap(\.bytes)) }
                .filter { !$0.records.isEmpty }
            sets = found.map(\.set)
            guard !sets.isEmpty else { break }
            // Another who removes them, too, may be faster, but then they do not come again.
            guard found.map(\.records) != left else { throw Self.rejection("records that cannot be removed") }
            // A record of another form may name what is another cache's.
            let entries = found.flatMap(\.records).filter(RedisKeys.isFileName).map {
                keys.entry(named: String(decoding: $0, as: UTF8.self))
            }
            var commands = found.map { [Data("ZREM".utf8), $0.set] + $0.records }
            if !entries.isEmpty { commands.append([Self.unlink] + entries) }
            let results = try transact(commands)
            if !entries.isEmpty { count += Self.number(results.last, upTo: entries.count) }
            let isStuck = zip(found, results).allSatisfy { Self.number($1, upTo: $0.records.count) == 0 }
            left = isStuck ? found.map(\.records) : []
        }
        return count
    }

    /// Removes all names of this prefix. The records last, each with the entry that was stored meanwhile: one that stays
    /// without a record would be missed when its resource is removed.
    func removeAll() throws(RedisFailure) {
        try scan(RedisKeys.entryKind) { (names) throws(RedisFailure) in
            try Self.forEachPart(names) { (part) throws(RedisFailure) in _ = try execute([[Self.unlink] + part]) }
        }
        try scan(RedisKeys.recordKind) { (names) throws(RedisFailure) in
            try Self.forEachPart(names) { (part) throws(RedisFailure) in
                do throws(RedisFailure) {
                    _ = try removeAll(recordedIn: Array(part))
                } catch {
                    // What has such a name and is no set of records is of no use to any cache.
                    guard error.kind == .rejected else { throw error }
                    _ = try execute([[Self.unlink] + part])
                }
            }
        }
    }

    /// Bytes of the entries and their names.
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

    /// Runs commands as one step.
    private func transact(_ commands: [[Data]]) throws(RedisFailure) -> [RedisReply] {
        try checkTime()
        return try connection.transact { _ in commands }
    }

    private func checkTime() throws(RedisFailure) {
        guard clock.uptime < end else { throw Self.rejection("more calls than there is time for") }
    }

    /// What a server tells, which is not trusted to be a sensible number.
    private static func number(_ reply: RedisReply?, upTo limit: Int) -> Int { min(max(0, reply?.number ?? 0), limit) }

    /// Passes the names of a kind on as they come, without blocking the server for others. Some may come twice.
    private func scan(_ kind: String, _ take: ([Data]) throws(RedisFailure) -> Void) throws(RedisFailure) {
        let options = [
            Data("MATCH".utf8), keys.pattern(kind), Data("COUNT".utf8), Data("\(Self.batchSize)".utf8),
        ]
        var cursor: UInt64 = 0
        var cursors: Set<UInt64> = []
        repeat {
            let reply = try execute([[Data("SCAN".utf8), Data("\(cursor)".utf8)] + options]).first?.list ?? []
            // Cursors go up, bit-reversed, so that one which comes again would come for ever.
            guard reply.count == 2, let text = reply[0].bytes, let next = UInt64(String(decoding: text, as: UTF8.self)),
                next == 0 || cursors.insert(next).inserted
            else { throw Self.rejection("a cursor that leads nowhere") }
            try take((reply[1].list ?? []).compactMap(\.bytes).filter { keys.has($0, of: kind) })
            cursor = next
        } while cursor != 0
    }

    /// Passes each entry's name on once, in parts, and returns how many there are.
    private func forEachEntry(_ take: (ArraySlice<Data>) throws(RedisFailure) -> Void) throws(RedisFailure) -> Int {
        var found: Set<Data> = []
        try scan(RedisKeys.entryKind) { (names) throws(RedisFailure) in
            let new = names.filter { found.insert($0).inserted }
            guard found.count <= Self.maximumNameCount else { throw Self.rejection("more names than are counted") }
            try Self.forEachPart(new, take)
        }
        return found.count
    }

    private static func forEachPart(
        _ names: [Data], _ take: (ArraySlice<Data>) throws(RedisFailure) -> Void
    ) throws(RedisFailure) {
        for start in stride(from: 0, to: names.count, by: batchSize) {
            try take(names[start..<min(names.count, start + batchSize)])
        }
    }

    /// The connection is still of use, and the server has answered.
    private static func rejection(_ message: String) -> RedisFailure { RedisFailure(kind: .rejected, message: message) }
}
