import AlcedoCore
import AlcedoLibc
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoDiskCache

/// Files that the index does not list, and listed files that do not exist.
@Suite(.timeLimit(.minutes(10)))
struct AdoptedFilesTests {
    /// The reasons for which a cache lists its directory.
    private enum Doubt: CaseIterable {
        case missingIndex, otherBoot, otherExtension
    }

    private let directory: TemporaryDirectory
    private let index: IndexBytes

    init() async throws {
        directory = try TemporaryDirectory()
        index = IndexBytes(directory)
        let cache = FileDiskCache(directory: directory.url)
        for name in ["a", "b", "c"] { try await cache.store(bytes(100), for: key(name)) }
        // The first store starts a trim in the background. In a directory that a cache with another extension uses
        // meanwhile, the trim would change the extensions back.
        await cache.flush()
    }

    private func raise(_ doubt: Doubt) throws {
        switch doubt {
        case .missingIndex: try FileManager.default.removeItem(at: index.url)
        case .otherBoot: try index.changeHeader { $0.bootHashes = [1, 2] }
        case .otherExtension: try index.changeHeader { $0.suffixHash &+= 1 }
        }
    }

    private func copyEntry(_ name: String, from other: TemporaryDirectory, to target: String) throws {
        try FileManager.default.createDirectory(
            at: URL(filePath: target).deletingLastPathComponent(), withIntermediateDirectories: true)
        try #require(FileManager.default.contents(atPath: other.file(name))).write(to: URL(filePath: target))
    }

    @Test(arguments: Doubt.allCases)
    private func `complete files that the index does not list are adopted`(doubt: Doubt) async throws {
        let other = try TemporaryDirectory()
        let stranger = CachedData(
            bytes(321), metadata: bytes(3), expiry: Date(timeIntervalSince1970: 4_000_000_000))
        try await FileDiskCache(directory: other.url).store(stranger, for: key("stranger"))
        try copyEntry("stranger", from: other, to: directory.file("stranger"))
        try raise(doubt)
        let cache = FileDiskCache(directory: directory.url)

        #expect(await cache.count == 4)
        #expect(await cache.totalSize == directory.fileSizes)
        #expect(await cache.entry(for: key("stranger")) == stranger)
        #expect(await cache.contains(key("a")))
        let item = await cache.items().first { $0.name == key("stranger").fileName }
        #expect(item?.expiry == stranger.expiry)
        #expect(await cache.removeAll(of: ResourceKey("stranger")) == 1)
        #expect(try index.header.bootHashes.first == IndexHeader.bootHash)
    }

    @Test(arguments: Doubt.allCases)
    private func `invalid entry files are removed, and files of others stay`(doubt: Doubt) async throws {
        let damaged = ["x", "y", "z"].map { directory.file($0) }
        for (path, content) in zip(damaged, [Data(), bytes(500), Data(count: 56)]) {
            try FileManager.default.createDirectory(
                at: URL(filePath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
            try content.write(to: URL(filePath: path))
        }
        try FileManager.default.createDirectory(
            atPath: directory.file("folder") + "/in", withIntermediateDirectories: true)
        let digits = String(repeating: "a", count: 62)
        let foreign = [
            "notes.txt", "ab/notes.txt", "ab/\(digits)bb", "ab/x\(digits.dropFirst())", "abc/\(digits)", "unfinished/x",
        ]
        for name in foreign {
            let url = directory.url.appending(path: name)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try bytes(70).write(to: url)
        }
        try raise(doubt)

        #expect(await FileDiskCache(directory: directory.url).count == 3)

        for path in damaged + [directory.file("folder")] { #expect(access(path, F_OK) != 0, "\(path)") }
        for name in foreign { #expect(access("\(directory.path)/\(name)", F_OK) == 0, "\(name)") }
    }

    @Test func `a file under another entry's name is a miss and is removed`() async throws {
        try copyEntry("a", from: directory, to: directory.file("x"))
        try raise(.missingIndex)
        let cache = FileDiskCache(directory: directory.url)

        #expect(await cache.entry(for: key("x")) == nil)

        #expect(await cache.count == 3)
        #expect(access(directory.file("x"), F_OK) != 0)
        #expect(cache.statistics.damagedEntries == 1)
    }

    @Test func `an entry whose file is missing is a miss and is no longer counted`() async throws {
        let cache = FileDiskCache(directory: directory.url)
        #expect(await cache.count == 3)
        try FileManager.default.removeItem(atPath: directory.file("b"))

        #expect(await cache.entry(for: key("b")) == nil)

        #expect(await cache.count == 2)
        #expect(await cache.totalSize == directory.fileSizes)
        #expect(!(await cache.contains(key("b"))))
        #expect(await FileDiskCache(directory: directory.url).count == 2)
    }

    @Test(arguments: Doubt.allCases)
    private func `entries whose files are missing are not counted after the directory is listed`(doubt: Doubt)
        async throws
    {
        for name in ["a", "c"] { try FileManager.default.removeItem(atPath: directory.file(name)) }
        try raise(doubt)
        let cache = FileDiskCache(directory: directory.url)
        #expect(await cache.items().map(\.name) == [key("b").fileName])
        #expect(await cache.totalSize == directory.fileSizes)
    }

    @Test func `the order of use and moved expiries survive a reboot`() async throws {
        let first = FileDiskCache(directory: directory.url)
        _ = await first.entry(for: key("a"))
        await first.flush()
        let before = await first.items()
        try raise(.otherBoot)

        #expect(await FileDiskCache(directory: directory.url).items() == before)
        #expect(before.map(\.name) == ["b", "c", "a"].map { key($0).fileName })
    }

    @Test func `another path extension keeps the entries and counts each once`() async throws {
        let cache = FileDiskCache(directory: directory.url, pathExtension: "png")
        for name in ["a", "b", "c"] { #expect(await cache.data(for: key(name)) == bytes(100)) }
        try await cache.store(bytes(7), for: key("d"))
        #expect(directory.files.filter { $0.hasSuffix(".png") }.count == 4)

        let plain = FileDiskCache(directory: directory.url)

        #expect(await plain.data(for: key("d")) == bytes(7))
        #expect(directory.files.allSatisfy { !$0.hasSuffix(".png") })
        #expect(await plain.count == directory.files.count)
        #expect(await plain.totalSize == directory.fileSizes)
    }
}
