import AlcedoCore
import AlcedoRuntime
import FoundationEssentials

/// The encoding of a cache entry as one Redis value: a header of 36 bytes, the metadata, the data.
///
/// The header consists of the magic bytes `ALR2` and four little-endian integers. These are the expiry and the date of
/// storing in milliseconds since 1970, the length of the metadata, and an XXH64 checksum. The minimum value stands for
/// no expiry. The checksum is that of the key and of everything except itself: a value whose checksum does not match is
/// not an entry of the key.
enum RedisEntry {
    private static let magic: [UInt8] = Array("ALR2".utf8)
    private static let headCount = 36
    private static let hashOffset = headCount - 8

    /// Returns the number of bytes that ``encode(_:for:at:)`` returns.
    static func byteCount(of entry: CachedData) -> Int { headCount + entry.metadata.count + entry.data.count }

    static func encode(_ entry: CachedData, for key: ImageKey, at now: Timestamp) -> Data {
        var bytes = Data(capacity: byteCount(of: entry))
        bytes.append(contentsOf: magic)
        append(entry.expiry.map { Timestamp($0).milliseconds } ?? .min, to: &bytes)
        append(now.milliseconds, to: &bytes)
        append(UInt64(entry.metadata.count), to: &bytes)
        var hash = hash(of: key)
        hash.update(bytes.bytes)
        hash.update(entry.metadata.bytes)
        hash.update(entry.data.bytes)
        append(hash.value, to: &bytes)
        bytes.append(entry.metadata)
        bytes.append(entry.data)
        return bytes
    }

    /// Returns the entry of a value and the date on which it was stored; nil if the value is damaged or not an entry of
    /// the key.
    static func decode(_ value: Data, for key: ImageKey) -> (entry: CachedData, storedAt: Timestamp)? {
        let bytes = value.startIndex == 0 ? value : Data(value)
        guard bytes.count >= headCount, bytes.prefix(magic.count).elementsEqual(magic) else { return nil }
        let expiry: Int64 = number(bytes, magic.count)
        let storedAt: Int64 = number(bytes, magic.count + 8)
        let metadataCount: UInt64 = number(bytes, magic.count + 16)
        let expected: UInt64 = number(bytes, hashOffset)
        guard metadataCount <= UInt64(bytes.count - headCount) else { return nil }
        var hash = hash(of: key)
        hash.update(bytes.bytes.extracting(0..<hashOffset))
        hash.update(bytes.bytes.extracting(headCount..<bytes.count))
        guard hash.value == expected else { return nil }
        let middle = headCount + Int(metadataCount)
        let entry = CachedData(
            Data(bytes[middle...]), metadata: Data(bytes[headCount..<middle]),
            expiry: expiry == .min ? nil : Timestamp(milliseconds: expiry).date)
        return (entry, Timestamp(milliseconds: storedAt))
    }

    /// Returns the beginning of a checksum, which binds a value to its key: a value that is moved to another key is not
    /// an entry of that key.
    private static func hash(of key: ImageKey) -> XXH64 {
        var hash = XXH64()
        // The name has a fixed length, so no other key and value have the same bytes.
        hash.update(Array(key.fileName.utf8).span.bytes)
        return hash
    }

    private static func append<Number: FixedWidthInteger>(_ number: Number, to bytes: inout Data) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    private static func number<Number: FixedWidthInteger & BitwiseCopyable>(_ bytes: Data, _ offset: Int) -> Number {
        Number(littleEndian: bytes.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: Number.self))
    }
}

/// A record that a resource has an entry. It is a member of the resource's sorted set. Its score is the time at which
/// it expires, in milliseconds since 1970 by the server's clock, which also determines when entries expire.
struct EntryRecord: Sendable {
    /// The latest time of a record in milliseconds since 1970: about 31,700 years. Scores are floating-point numbers,
    /// which represent all integers up to this value exactly.
    private static let latestTime = 1_000_000_000_000_000

    /// The file name of the entry's key.
    let name: String
    /// The time for which the record is kept, in milliseconds.
    let lifetime: Int
    /// The Redis key of the resource's set.
    let variants: Data

    /// The commands that read the server's time and the set's record with the latest expiry.
    var queries: [[Data]] {
        [[Data("TIME".utf8)], [Data("ZRANGE".utf8), variants] + ["-1", "-1", "WITHSCORES"].map { Data($0.utf8) }]
    }

    /// Returns the commands that remove expired records, add this one, and keep the set until its last record expires.
    /// They are valid as long as the set does not change after `replies` were read.
    ///
    /// - Parameter replies: The replies to ``queries``.
    /// - Throws: ``RedisFailure`` if the server does not return its time.
    func changes(_ replies: [RedisReply]) throws(RedisFailure) -> [[Data]] {
        let time = (replies.first?.list ?? []).map(Self.number)
        guard time.count == 2, let seconds = time[0], let microseconds = time[1] else {
            throw RedisFailure(kind: .rejected, message: "invalid TIME reply")
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

    /// Parses a time or a score, which the server may format as a decimal fraction or with an exponent. Returns nil for
    /// an invalid or negative number. A number above ``latestTime`` counts as ``latestTime``.
    private static func number(_ reply: RedisReply) -> Int? {
        guard let bytes = reply.bytes, let value = Double(String(decoding: bytes, as: UTF8.self)), value >= 0 else {
            return nil
        }
        return Int(min(value, Double(latestTime)))
    }
}

/// The Redis keys of entries and records.
struct RedisKeys: Sendable {
    /// The length of all file names, which are hexadecimal digits.
    private static let fileNameCount = 64
    private static let digits = Set("0123456789abcdef".utf8)

    let prefix: String

    func entry(_ key: ImageKey) -> Data { entry(named: key.fileName) }

    func entry(named name: String) -> Data { Data("\(prefix)\(Self.entryKind)\(name)".utf8) }

    /// Returns the key of the sorted set with the names of a resource's entries, ordered by expiry.
    func variants(of resource: ResourceKey) -> Data {
        Data("\(prefix)\(Self.recordKind)\(ImageKey(resource).fileName)".utf8)
    }

    /// The kind of the keys of entries.
    static let entryKind = "e:"
    /// The kind of the keys of record sets. Each set lists the entries of one resource.
    static let recordKind = "v:"

    /// Returns a pattern that matches all keys of a kind. It matches only keys of the right length, because longer keys
    /// that begin with the same prefix and kind belong to another cache with a longer prefix.
    func pattern(_ kind: String) -> Data {
        var pattern = Data()
        for byte in "\(prefix)\(kind)".utf8 {
            if "*?[]\\^-".utf8.contains(byte) { pattern.append(UInt8(ascii: "\\")) }
            pattern.append(byte)
        }
        return pattern + Data(repeating: UInt8(ascii: "?"), count: Self.fileNameCount)
    }

    /// Returns whether a key belongs to a kind. It does not rely on the server's pattern matching.
    func has(_ name: Data, of kind: String) -> Bool {
        let head = Data("\(prefix)\(kind)".utf8)
        return name.starts(with: head) && Self.isFileName(name.dropFirst(head.count))
    }

    /// Returns whether the bytes have the form of an entry's file name.
    static func isFileName(_ bytes: Data) -> Bool {
        bytes.count == fileNameCount && bytes.allSatisfy { digits.contains($0) }
    }
}
