import AlcedoCore
import AlcedoLibc
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoSQLiteCache

/// A link in the place of the directory of values is damage. The link is removed, and its target stays unchanged.
@Suite(.timeLimit(.minutes(10)))
struct LinkedDirectoryTests {
    private let directory: TemporaryDirectory
    private let outside: TemporaryDirectory
    private let cache: SQLiteDiskCache
    private let large = bytes(EntryTable.maximumInlineByteCount + 1)

    init() async throws {
        directory = try TemporaryDirectory()
        outside = try TemporaryDirectory()
        cache = SQLiteDiskCache(directory: directory.url)
        try await cache.store(large, for: key("a"))
        await cache.flush()
    }

    /// Moves the directory out of the cache and leaves a link, which is the only sign that it does not belong to the
    /// cache.
    private func replaceDirectory() throws -> String {
        let path = directory.path + "/values"
        try #require(rename(path, outside.path + "/folder") == 0)
        try #require(symlink(outside.path + "/folder", path) == 0)
        return path
    }

    private func isLink(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    private func expectUntouched() {
        let values = (try? FileManager.default.contentsOfDirectory(atPath: outside.path + "/folder")) ?? []
        #expect(values.count == 1)
        for name in values { #expect(FileManager.default.contents(atPath: outside.path + "/folder/" + name) == large) }
    }

    @Test func `reading removes the link, is a miss, and is counted`() async throws {
        let link = try replaceDirectory()

        #expect(await cache.data(for: key("a")) == nil)

        #expect(!isLink(link))
        #expect(cache.statistics.damagedEntries == 1)
        #expect(await cache.count == 0)
        try await cache.store(large, for: key("a"))
        #expect(await cache.data(for: key("a")) == large)
        #expect(directory.valueFiles.count == 1)
        expectUntouched()
    }

    @Test func `storing replaces the link by a directory`() async throws {
        let link = try replaceDirectory()

        try await cache.store(large.dropLast() + [7], for: key("a"))

        #expect(!isLink(link))
        #expect(await cache.data(for: key("a")) == large.dropLast() + [7])
        expectUntouched()
    }

    enum Removing: String, CaseIterable { case one, everything, trimming, verifying, sweeping }

    @Test(arguments: Removing.allCases)
    func `removing keeps the files outside`(removing: Removing) async throws {
        let link = try replaceDirectory()
        switch removing {
        case .one: #expect(await cache.remove(key("a")))
        case .everything: await cache.removeAll()
        case .trimming: await cache.trim(toSize: 0)
        case .verifying: #expect(await cache.verify().damagedNames == [key("a").fileName])
        case .sweeping: await cache.storage.removeLeftovers()
        }

        #expect(!isLink(link))
        #expect(await cache.verify().damagedNames.count == (removing == .sweeping ? 1 : 0))
        expectUntouched()
    }

    @Test func `the cache's own directory may be a link`() async throws {
        let link = outside.path + "/link"
        #expect(symlink(directory.path, link) == 0)
        let linked = SQLiteDiskCache(directory: URL(filePath: link))
        #expect(await linked.data(for: key("a")) == large)
        try await linked.store(large, for: key("b"))
        #expect(await cache.data(for: key("b")) == large)
    }
}
