import FoundationEssentials

/// The record that a resource has an entry: a member of the resource's sorted set, with the time when it ends as its score,
/// in milliseconds since 1970 by the server's own clock, as the server ends its entries by that clock.
struct EntryRecord: Sendable {
    /// 31,700 years. Scores are floating-point numbers, exact up to here.
    private static let latestTime = 1_000_000_000_000_000

    /// The entry's file name.
    let name: String
    /// How long the record is kept, in milliseconds.
    let life: Int
    /// The name of the resource's set.
    let variants: Data

    /// The server's time, and the record in the set that ends last.
    var queries: [[Data]] {
        [[Data("TIME".utf8)], [Data("ZRANGE".utf8), variants] + ["-1", "-1", "WITHSCORES"].map { Data($0.utf8) }]
    }

    /// The commands that remove records that have ended, add this one, and keep the set as long as its last record. They are
    /// right while the set is as `replies` say.
    ///
    /// - Parameter replies: To ``queries``.
    /// - Throws: ``RedisFailure`` when the server does not say its time.
    func changes(_ replies: [RedisReply]) throws(RedisFailure) -> [[Data]] {
        let time = (replies.first?.list ?? []).map(Self.number)
        guard time.count == 2, let seconds = time[0], let microseconds = time[1] else {
            throw RedisFailure(kind: .refused, message: "a time that is not one")
        }
        let now = min(seconds, Self.latestTime) * 1000 + microseconds / 1000
        let end = min(now + life, Self.latestTime)
        let last = replies.last?.list?.last.flatMap(Self.number) ?? 0
        return [
            ["ZREMRANGEBYSCORE", "-inf", "\(now)"], ["ZADD", "\(end)", name], ["PEXPIREAT", "\(max(end, last))"],
        ].map { words in
            [Data(words[0].utf8), variants] + words.dropFirst().map { Data($0.utf8) }
        }
    }

    /// A whole number from nought to ``latestTime``, however the server writes it.
    private static func number(_ reply: RedisReply) -> Int? {
        guard let bytes = reply.bytes, let value = Double(String(decoding: bytes, as: UTF8.self)), value >= 0 else {
            return nil
        }
        return Int(min(value, Double(latestTime)))
    }
}
