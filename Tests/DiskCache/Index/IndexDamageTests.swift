import AlcedoCore
import AlcedoLibc
import AlcedoRuntime
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoDiskCache

/// Whatever happens to the index, the entries' files are authoritative.
@Suite(.timeLimit(.minutes(10)))
struct IndexDamageTests {
    private let directory: TemporaryDirectory
    private let index: IndexBytes
    private let whole: Data
    /// The entries of the cache.
    private var stored: [String: CachedData] = [:]

    init() async throws {
        directory = try TemporaryDirectory()
        index = IndexBytes(directory)
        let cache = FileDiskCache(directory: directory.url)
        for number in 0..<7 {
            stored["\(number)"] = CachedData(bytes(100 * number), metadata: bytes(number))
            try await cache.store(try #require(stored["\(number)"]), for: key("\(number)"))
        }
        // Records of a removal, a use, and an entry whose size has changed.
        await cache.remove(key("3"))
        stored["3"] = nil
        _ = await cache.entry(for: key("0"))
        await cache.flush()
        stored["1"] = CachedData(bytes(999), expiry: Date(timeIntervalSince1970: 4_000_000_000))
        try await cache.store(try #require(stored["1"]), for: key("1"))
        whole = try index.content
    }

    /// Returns the size of the header and some records.
    private func end(of count: Int) -> Int { IndexHeader.size + count * IndexRecord.size }

    private var recordCount: Int { (whole.count - IndexHeader.size) / IndexRecord.size }

    /// Expects that a cache opened on the damaged index loses nothing, is up to date after its first change, and
    /// informs others.
    private func expectRecovery(_ what: String, by cache: FileDiskCache? = nil) async throws {
        let cache = cache ?? FileDiskCache(directory: directory.url)
        for number in 0..<7 {
            let name = "\(number)"
            #expect(await cache.contains(key(name)) == (stored[name] != nil), "\(what): \(name)")
            #expect(await cache.entry(for: key(name)) == stored[name], "\(what): \(name)")
        }
        try await cache.store(bytes(50), for: key("new"))
        await cache.remove(key("new"))

        for cache in [cache, FileDiskCache(directory: directory.url)] {
            #expect(await cache.count == stored.count, "\(what)")
            #expect(await cache.totalSize == directory.fileSizes, "\(what)")
            for (name, entry) in stored { #expect(await cache.entry(for: key(name)) == entry, "\(what): \(name)") }
        }
        #expect(directory.files.count == stored.count, "\(what)")
        #expect(directory.unfinished.isEmpty, "\(what)")
    }

    @Test func `an intact index lists all entries`() async throws {
        try await expectRecovery("whole")
    }

    @Test func `a missing or empty index is rebuilt`() async throws {
        try FileManager.default.removeItem(at: index.url)
        try await expectRecovery("missing")
        try index.replace(by: Data())
        try await expectRecovery("empty")
        try index.replace(by: Data(count: 4000))
        try await expectRecovery("nothing but noughts")
        try index.replace(by: Data("not an index".utf8))
        try await expectRecovery("something else")
    }

    @Test func `an index that ends within its header or a record is rebuilt`() async throws {
        for count in [1, IndexHeader.size - 1, end(of: 0) + 1, end(of: 2) - 1, end(of: 4) + 44, whole.count - 1] {
            try index.replace(by: whole.prefix(count))
            try await expectRecovery("\(count) bytes")
        }
        try index.replace(by: whole + [0])
        try await expectRecovery("a byte more")
    }

    @Test func `an index that is shorter than at its last compaction is rebuilt`() async throws {
        try FileManager.default.removeItem(at: index.url)
        _ = await FileDiskCache(directory: directory.url).totalSize
        let written = try index.content
        #expect(try index.header.entryCount == stored.count)
        for count in 0..<stored.count {
            try index.replace(by: written.prefix(end(of: count)))
            try await expectRecovery("\(count) records")
        }
    }

    @Test func `an index truncated at the end of a record is rebuilt`() async throws {
        for count in 0..<recordCount {
            try index.replace(by: whole.prefix(end(of: count)))
            #expect(await FileDiskCache(directory: directory.url).count == stored.count, "\(count) records")
            try index.replace(by: whole.prefix(end(of: count)))
            try await expectRecovery("\(count) records")
        }
    }

    @Test func `a wrong count of written records loses no entry`() async throws {
        for number in [0, 1, UInt64(recordCount + 1), 1 << 40, .max] {
            var bytes = Array(whole)
            var field: [UInt8] = []
            field.append(number: number)
            bytes.replaceSubrange(IndexHeader.writtenCountOffset..<IndexHeader.writtenCountOffset + 8, with: field)
            try index.replace(by: Data(bytes))
            try await expectRecovery("\(number)")
        }
    }

    @Test func `a damaged record affects no other record and no other entry's file`() async throws {
        let before = await FileDiskCache(directory: directory.url).items()
        var bytes = whole
        // The record of the first entry, which a later record supersedes.
        bytes[end(of: 0) + 40] ^= 1
        try index.replace(by: bytes)
        // A reader of this file rejects it.
        let path = directory.file("5")
        var status = stat()
        try #require(stat(path, &status) == 0)
        let file = open(path, O_WRONLY)
        #expect(pwrite(file, [1, 2, 3, 4], 4, off_t(status.st_size) - 56) == 4)
        #expect(futimens(file, [status.st_atim, status.st_mtim]) == 0)
        close(file)

        let cache = FileDiskCache(directory: directory.url)
        #expect(await cache.items() == before)
        #expect(try index.recordCount == stored.count)

        #expect(await cache.entry(for: key("5")) == nil)
        #expect(await cache.count == stored.count - 1)
    }

    @Test func `an open cache notices that its index was truncated at the end of a record`() async throws {
        for _ in 0..<recordCount {
            let cache = FileDiskCache(directory: directory.url)
            _ = await cache.totalSize
            #expect(truncate(index.url.path, try index.content.count - IndexRecord.size) == 0)
            try await expectRecovery("without the last record", by: cache)
            try index.replace(by: whole)
        }
    }

    @Test func `a changed byte at any position is detected`() async throws {
        for offset in stride(from: 0, to: whole.count, by: 13) {
            var bytes = whole
            bytes[offset] ^= 0x40
            try index.replace(by: bytes)
            try await expectRecovery("byte \(offset)")
        }
        var bytes = whole
        bytes[whole.count - 1] ^= 1
        try index.replace(by: bytes)
        try await expectRecovery("the last byte")
    }

    @Test func `a byte that changes under an open cache loses no entry`() async throws {
        for offset in stride(from: 0, to: whole.count, by: 61) {
            try index.replace(by: whole)
            let cache = FileDiskCache(directory: directory.url)
            _ = await cache.totalSize
            let file = open(index.url.path, O_WRONLY)
            #expect(pwrite(file, [whole[offset] ^ 0xFF], 1, off_t(offset)) == 1)
            close(file)

            for (name, entry) in stored {
                #expect(await cache.entry(for: key(name)) == entry, "byte \(offset): \(name)")
            }
            try await cache.store(bytes(50), for: key("new"))
            await cache.remove(key("new"))
            #expect(await cache.totalSize == directory.fileSizes, "byte \(offset)")
            // A cache that opens it now finds the damage.
            try await expectRecovery("byte \(offset)")
        }
    }

    @Test func `an index of another version is rebuilt`() async throws {
        var header = Array(whole.prefix(IndexHeader.size - 8))
        header[0] &+= 1
        header.append(number: XXH64.hash(header.span.bytes))
        try index.replace(by: Data(header) + whole.dropFirst(IndexHeader.size))

        try await expectRecovery("another version")

        #expect(try index.content.prefix(8) == whole.prefix(8))
    }

    /// The layout of the first version, without blocks: a header of 88 bytes, and records with the length of a file
    /// only.
    @Test func `an index of the first version is rebuilt with block sizes`() async throws {
        var old: [UInt8] = []
        let noBytes: [UInt8] = []
        for number in [
            0x3130_5844_494F_4441, 7, 0, 0, IndexHeader.bootHash, XXH64.hash(noBytes.span.bytes), 0, 1, 0, 0,
        ] {
            old.append(number: number)
        }
        let head = Array(old[..<56]) + [UInt8](repeating: 0, count: 24)
        old.append(number: XXH64.hash(head.span.bytes))
        let entry = IndexEntry(
            name: EntryName(key("1")), resourceHash: 0, file: FileSize(length: 100, occupied: 100),
            storedAt: Timestamp(milliseconds: 0), lastUse: Timestamp(milliseconds: 0), expiry: nil, useNumber: 1)
        IndexRecord.entry(entry).append(to: &old, generation: 7)
        try index.replace(by: Data(old))

        try await expectRecovery("the first version")

        #expect(try index.content.prefix(8) == whole.prefix(8))
    }

    @Test func `an index of another directory lists only entries whose files exist`() async throws {
        let other = try TemporaryDirectory()
        let foreign = FileDiskCache(directory: other.url)
        for name in ["0", "x", "y"] { try await foreign.store(bytes(77), for: key(name)) }
        try index.replace(by: IndexBytes(other).content)
        try index.changeHeader { $0.bootHashes = [1] }

        try await expectRecovery("another's")

        #expect(await FileDiskCache(directory: directory.url).data(for: key("x")) == nil)
    }

    private enum Obstacle: CaseIterable {
        case emptyDirectory, directory, link, danglingLink, linkToItself, pipe, socket
    }

    @Test(arguments: Obstacle.allCases)
    private func `a file in the place of the index is replaced`(obstacle: Obstacle) async throws {
        let path = index.url.path
        let elsewhere = directory.path + "/elsewhere"
        try whole.write(to: URL(filePath: elsewhere))
        try FileManager.default.removeItem(at: index.url)
        switch obstacle {
        case .emptyDirectory: #expect(mkdir(path, 0o700) == 0)
        case .directory:
            try FileManager.default.createDirectory(atPath: path + "/x/y", withIntermediateDirectories: true)
            try Data([1]).write(to: URL(filePath: path + "/x/file"))
        case .link: #expect(symlink(elsewhere, path) == 0)
        case .danglingLink: #expect(symlink(directory.path + "/nothing", path) == 0)
        case .linkToItself: #expect(symlink(path, path) == 0)
        case .pipe: #expect(mkfifo(path, 0o600) == 0)
        case .socket: #expect(mknod(path, S_IFSOCK | 0o600, 0) == 0)
        }
        let cache = FileDiskCache(directory: directory.url)

        for (name, entry) in stored { #expect(await cache.entry(for: key(name)) == entry, "\(name)") }
        try await cache.store(bytes(5), for: key("0"))

        #expect(await cache.data(for: key("0")) == bytes(5))
        #expect(await FileDiskCache(directory: directory.url).count == stored.count)
        var status = stat()
        #expect(lstat(path, &status) == 0)
        #expect(status.st_mode & S_IFMT == S_IFREG)
        // Nothing was written through the link or created at its target.
        #expect(FileManager.default.contents(atPath: elsewhere) == whole)
        #expect(!FileManager.default.fileExists(atPath: directory.path + "/nothing"))
    }
}
