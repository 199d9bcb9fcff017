import AlcedoCore
import AlcedoRuntime
import FoundationEssentials

/// An entry as the bytes of one value: a head of 28 bytes, the notes, the data.
///
/// The head, in little-endian numbers: `ALR1`, the expiry in milliseconds since 1970 (the least number: none), the metadata's
/// length, and the XXH64 of all that is not itself. What does not agree with it is no entry.
enum RedisEntry {
    private static let magic: [UInt8] = Array("ALR1".utf8)
    private static let headCount = 28
    private static let hashOffset = 16 + 4

    /// Bytes that ``encode(_:)`` makes.
    static func byteCount(of entry: CachedData) -> Int { headCount + entry.metadata.count + entry.data.count }

    static func encode(_ entry: CachedData) -> Data {
        var bytes = Data(capacity: byteCount(of: entry))
        bytes.append(contentsOf: magic)
        append(entry.expiry.map { Timestamp($0).milliseconds } ?? .min, to: &bytes)
        append(UInt64(entry.metadata.count), to: &bytes)
        var hash = XXH64()
        hash.update(bytes.bytes)
        hash.update(entry.metadata.bytes)
        hash.update(entry.data.bytes)
        append(hash.value, to: &bytes)
        bytes.append(entry.metadata)
        bytes.append(entry.data)
        return bytes
    }

    /// Nil for what is damaged, or something else.
    static func decode(_ value: Data) -> CachedData? {
        let bytes = value.startIndex == 0 ? value : Data(value)
        guard bytes.count >= headCount, bytes.prefix(magic.count).elementsEqual(magic) else { return nil }
        let expiry: Int64 = number(bytes, magic.count)
        let metadataCount: UInt64 = number(bytes, magic.count + 8)
        let expected: UInt64 = number(bytes, hashOffset)
        guard metadataCount <= UInt64(bytes.count - headCount) else { return nil }
        var hash = XXH64()
        hash.update(bytes.bytes.extracting(0..<hashOffset))
        hash.update(bytes.bytes.extracting(headCount..<bytes.count))
        guard hash.value == expected else { return nil }
        let middle = headCount + Int(metadataCount)
        return CachedData(
            Data(bytes[middle...]), metadata: Data(bytes[headCount..<middle]),
            expiry: expiry == .min ? nil : Timestamp(milliseconds: expiry).date)
    }

    private static func append<Number: FixedWidthInteger>(_ number: Number, to bytes: inout Data) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    private static func number<Number: FixedWidthInteger & BitwiseCopyable>(_ bytes: Data, _ offset: Int) -> Number {
        Number(littleEndian: bytes.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: Number.self))
    }
}

/// The record that a resource has an entry: a member of the resource's sorted set, with the time when it ends as its score,
/// in milliseconds since 1970 by the server's own clock, as the server ends its entries by that clock.
struct EntryRecord: Sendable {
    /// 31,700 years. Scores are floating-point numbers, exact up to here.
    private static let latestTime = 1_000_000_000_000_000

    /// The entry's file name.
    let name: String
    /// How long the record is kept, in milliseconds.
    let lifetime: Int
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
            throw RedisFailure(kind: .rejected, message: "a time that is not one")
        }
        let now = min(seconds, Self.latestTime) * 1000 + microseconds / 1000
        let end = min(now + lifetime, Self.latestTime)
        let last = replies.last?.list?.last.flatMap(Self.number) ?? 0
        return [
            ["ZREMRANGEBYSCORE", "-inf", "\(now)"], ["ZADD", "\(end)", name], ["PEXPIREAT", "\(max(end, last))"],
        ].map { words in
            [Data(words[0].utf8), variants] + words.dropFirst().map { Data($0.utf8) }
        }
    }

    /// A whole number from zero to ``latestTime``, however the server writes it.
    private static func number(_ reply: RedisReply) -> Int? {
        guard let bytes = reply.bytes, let value = Double(String(decoding: bytes, as: UTF8.self)), value >= 0 else {
            return nil
        }
        return Int(min(value, Double(latestTime)))
    }
}

/// The keys of entries on the server.
struct RedisKeys: Sendable {
    /// Of all file names, which are hexadecimal digits.
    private static let fileNameCount = 64
    private static let digits = Set("0123456789abcdef".utf8)

    let prefix: String

    func entry(_ key: ImageKey) -> Data { entry(named: key.fileName) }

    func entry(named name: String) -> Data { Data("\(prefix)\(Self.entryKind)\(name)".utf8) }

    /// The names of a resource's entries, sorted by when each is over.
    func variants(of resource: ResourceKey) -> Data {
        Data("\(prefix)\(Self.recordKind)\(ImageKey(resource).fileName)".utf8)
    }

    /// The kind of the names of entries.
    static let entryKind = "e:"
    /// The kind of the names of sets of records, which say what entries a resource has.
    static let recordKind = "v:"

    /// A pattern that matches all names of a kind, and no longer ones: this prefix and kind may begin another cache's.
    func pattern(_ kind: String) -> Data {
        var pattern = Data()
        for byte in "\(prefix)\(kind)".utf8 {
            if "*?[]\\^-".utf8.contains(byte) { pattern.append(UInt8(ascii: "\\")) }
            pattern.append(byte)
        }
        return pattern + Data(repeating: UInt8(ascii: "?"), count: Self.fileNameCount)
    }

    /// Whether `name` is one of a kind, whatever the server thinks that a pattern matches.
    func has(_ name: Data, of kind: String) -> Bool {
        let head = Data("\(prefix)\(kind)".utf8)
        return name.starts(with: head) && Self.isFileName(name.dropFirst(head.count))
    }

    /// Whether the bytes have the form of an entry's file name.
    static func isFileName(_ bytes: Data) -> Bool {
        bytes.count == fileNameCount && bytes.allSatisfy { digits.contains($0) }
    }
}
