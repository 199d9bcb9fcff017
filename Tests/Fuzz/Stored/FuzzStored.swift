import AlcedoCore
@testable import AlcedoDiskCache
@testable import AlcedoRedisCache
import AlcedoRuntime
import Foundation
@testable import FuzzServer

/// The entry point that libFuzzer calls with every input: an entry as it is stored on disk, in an index, in Redis or as
/// a thumbnail. The checksums are made valid for the bytes, so that the bytes are read.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: bytes, count: count))
    readFile(bytes)
    readIndex(bytes)
    readRedis(bytes)
    readThumbnail(bytes)
    return 0
}

private func readFile(_ bytes: [UInt8]) {
    guard bytes.count >= EntryTrailer.size else { return }
    require(EntryFile.verify(bytes.span.bytes) == nil || bytes.count > EntryTrailer.size, "an entry without a name")
    var file = Array(bytes.dropLast(EntryTrailer.checksumSize))
    file.append(number: XXH3.hash(file.span.bytes))
    guard let trailer = EntryFile.verify(file.span.bytes) else { return }
    let attributes = file.span.bytes.extracting(
        trailer.dataCount..<trailer.dataCount + trailer.attributesCount)
    require(EntryFile.metadata(attributes, of: trailer).count == trailer.metadataCount, "metadata is missing")
    guard let key = EntryFile.key(attributes, of: trailer) else { return }
    require(EntryFile.attributes(attributes, of: trailer, belongTo: key), "an entry does not belong to its key")
    let other = ImageKey(key.resource, variant: key.variant + "x")
    require(!EntryFile.attributes(attributes, of: trailer, belongTo: other), "an entry belongs to another key")
}

private func readIndex(_ bytes: [UInt8]) {
    if bytes.count >= IndexHeader.size {
        var head = Array(bytes.prefix(IndexHeader.size - 8))
        var summed = head
        for index in 0..<8 { summed[IndexHeader.writtenCountOffset + index] = 0 }
        head.append(number: XXH64.hash(summed.span.bytes))
        if let header = IndexHeader(head.span.bytes) {
            require(header.writtenCount == .max || header.encoded.count == IndexHeader.size, "a header is too long")
        }
    }
    var table = IndexTable()
    for start in stride(from: 0, to: bytes.count - IndexRecord.size + 1, by: IndexRecord.size) {
        var record = Array(bytes[start..<start + IndexRecord.size - 4])
        record.append(number: UInt32(truncatingIfNeeded: XXH64.hash(record.span.bytes, seed: 7)))
        switch IndexRecord(record.span.bytes, generation: 7) {
        case .entry(let entry): table.put(entry)
        case .removed(let name): table.remove(name)
        case .removedAll: table = IndexTable()
        case nil: break
        }
    }
    require(table.totalSize >= 0 && table.totalSize == table.entries.reduce(0) { $0 + $1.size }, "a sum is wrong")
}

private func readRedis(_ bytes: [UInt8]) {
    let (key, other) = (ImageKey(ResourceKey("a")), ImageKey(ResourceKey("a"), variant: "x"))
    _ = RedisEntry.decode(Data(bytes), for: key)
    guard bytes.count > 16 else { return }
    let middle = 16 + Int(bytes[0]) % (bytes.count - 15)
    let entry = CachedData(
        Data(bytes[middle...]), metadata: Data(bytes[16..<middle]),
        expiry: Timestamp(milliseconds: number(bytes, 8)).date)
    let value = RedisEntry.encode(entry, for: key, at: Timestamp(milliseconds: number(bytes, 0)))
    require(RedisEntry.decode(value, for: key)?.entry == entry, "an entry is read otherwise")
    require(RedisEntry.decode(value, for: other) == nil, "an entry is read for another key")
    // A flipped bit, and a missing end.
    var changed = value
    changed[Int(bytes[1]) % value.count] ^= 1 << (bytes[2] % 8)
    require(RedisEntry.decode(changed, for: key) == nil, "a changed entry is read")
    let part = value.prefix(value.count - 1 - Int(bytes[3]) % value.count)
    require(RedisEntry.decode(part, for: key) == nil, "a part is read")
}

private func readThumbnail(_ bytes: [UInt8]) {
    guard bytes.count > 16 else { return }
    let now = Date(timeIntervalSince1970: 1.7e9)
    let entry = CachedData(
        Data(), metadata: Data(bytes[16...]), expiry: Timestamp(milliseconds: number(bytes, 0)).date)
    guard let thumbnail = Thumbnail(entry, maximumAge: .seconds(60)), let freshness = thumbnail.freshness else {
        return
    }
    require(freshness.shared <= freshness.start.addingTimeInterval(61), "a thumbnail is fresh for too long")
    // Whatever clock the entry was stored with, no client keeps it for longer than the maximum age.
    let control = freshness.cacheControl(now: now, until: nil)
    for part in control.split(separator: ",") {
        let seconds = part.split(separator: "=").last.flatMap { Int($0) } ?? 0
        require(seconds <= 60, "a thumbnail has the lifetime \(control)")
    }
}

private func number(_ bytes: [UInt8], _ offset: Int) -> Int64 { bytes.span.bytes.number(at: offset, as: Int64.self) }

private func require(_ condition: Bool, _ message: @autoclosure () -> String) {
    guard !condition else { return }
    fatalError(message())
}
