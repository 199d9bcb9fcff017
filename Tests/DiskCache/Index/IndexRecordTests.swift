import AlcedoCore
import AlcedoRuntime
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoDiskCache

@Suite(.timeLimit(.minutes(10)))
struct IndexRecordTests {
    private static let generation: UInt64 = 0x0123_4567_89AB_CDEF

    private static let entries: [IndexEntry] = [
        IndexEntry(
            name: EntryName(words: SIMD4(1, 2, 3, 4)), resourceHash: .max, file: FileSize(length: 0, occupied: 0),
            storedAt: Timestamp(milliseconds: 0), lastUse: Timestamp(milliseconds: -1), expiry: nil,
            useNumber: IndexEntry.neverUsed),
        IndexEntry(
            name: EntryName(words: SIMD4(repeating: .max), suffixNumber: 63), resourceHash: 0,
            file: FileSize(length: 1 << 42 - 1, occupied: 1 << 42 + (1 << 24 - 1) * 512),
            storedAt: Timestamp(milliseconds: .max), lastUse: Timestamp(milliseconds: .min),
            expiry: Timestamp(milliseconds: 0), useNumber: .max),
        IndexEntry(
            name: EntryName(key("a")), resourceHash: 7, file: FileSize(length: 1234, occupied: 8192),
            storedAt: Timestamp(milliseconds: 1_700_000_000_001), lastUse: Timestamp(milliseconds: 1_700_000_000_002),
            expiry: Timestamp(milliseconds: .min), useNumber: -5),
    ]

    private func encoded(_ record: IndexRecord) -> [UInt8] {
        var bytes: [UInt8] = []
        record.append(to: &bytes, generation: Self.generation)
        return bytes
    }

    private func decoded(_ bytes: [UInt8], generation: UInt64 = generation) -> IndexRecord? {
        IndexRecord(bytes.span.bytes, generation: generation)
    }

    private func header(_ bytes: [UInt8]) -> IndexHeader? { IndexHeader(bytes.span.bytes) }

    @Test(arguments: entries)
    func `an entry's record is decoded as it was encoded`(entry: IndexEntry) throws {
        let bytes = encoded(.entry(entry))
        #expect(bytes.count == IndexRecord.size)
        guard case .entry(let read) = decoded(bytes) else {
            Issue.record("no entry's record")
            return
        }
        #expect(read == entry)
    }

    @Test func `an entry in memory has the documented size`() { #expect(MemoryLayout<IndexEntry>.stride == 96) }

    @Test func `a removal's record identifies its entry`() throws {
        let name = EntryName(key("a"))
        guard case .removed(name) = decoded(encoded(.removed(name))) else {
            Issue.record("no removal of that entry")
            return
        }
        guard case .removedAll = decoded(encoded(.removedAll)) else {
            Issue.record("no removal of everything")
            return
        }
    }

    @Test func `the name in a record is the file's name`() {
        let name = EntryName(key("a"))
        let hex = encoded(.removed(name)).prefix(32).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        #expect(hex.joined() == name.text)
        #expect(name.text == key("a").fileName)
    }

    @Test func `every changed byte of a record and a record of another generation are detected`() {
        let bytes = encoded(.entry(Self.entries[2]))
        for index in bytes.indices {
            for mask in [0x01, 0x10, 0x80, 0xFF] as [UInt8] {
                var damaged = bytes
                damaged[index] ^= mask
                #expect(decoded(damaged) == nil, "byte \(index) ^ \(mask)")
            }
        }
        #expect(decoded(bytes, generation: Self.generation + 1) == nil)
        #expect(decoded([UInt8](repeating: 0, count: IndexRecord.size)) == nil)
    }

    @Test(arguments: [-1, 1 << 42, .max, .min])
    func `a record with an impossible length is invalid`(size: Int) {
        var entry = Self.entries[2]
        entry.file.length = size
        #expect(decoded(encoded(.entry(entry))) == nil)
    }

    @Test func `a header is decoded as it was encoded, and every changed byte is detected`() throws {
        let header = IndexHeader(
            entryCount: 12, replacing: (generation: 34, size: 56), suffixRule: ".png",
            bootHashes: (1...40 as ClosedRange<UInt64>).map { $0 })
        let bytes = header.encoded
        #expect(bytes.count == IndexHeader.size)

        let read = try #require(self.header(bytes))

        #expect(read.generation == header.generation)
        #expect(read.replaced == (generation: 34, size: 56))
        #expect(read.entryCount == 12)
        #expect(read.bootHashes == (1...36).map { $0 })
        #expect(read.suffixHash == header.suffixHash)
        #expect(read.writtenCount == 12)
        // The number of written records is rewritten repeatedly in one piece and may have any value.
        for index in bytes.indices where !(0..<8 ~= index - IndexHeader.writtenCountOffset) {
            for mask in [0x01, 0x80, 0xFF] as [UInt8] {
                var damaged = bytes
                damaged[index] ^= mask
                #expect(self.header(damaged) == nil, "byte \(index) ^ \(mask)")
            }
        }
        #expect(self.header(bytes.dropLast()) == nil)
    }
}
