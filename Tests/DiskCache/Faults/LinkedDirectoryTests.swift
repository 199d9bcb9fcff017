import AlcedoCore
import AlcedoLibc
import CFileSystemShim
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoDiskCache

/// A link in the place of a shard directory is damage. The link is removed, and its target stays unchanged.
@Suite(.timeLimit(.minutes(10)))
struct LinkedDirectoryTests {
    private let directory: TemporaryDirectory
    private let outside: TemporaryDirectory
    private let cache: FileDiskCache
    private let entry = CachedData(bytes(400), metadata: Data("notes".utf8))
    private let shard: String
    /// The contents of the files outside, by name.
    private let precious: [String: Data]

    init() async throws {
        directory = try TemporaryDirectory()
        outside = try TemporaryDirectory()
        cache = FileDiskCache(directory: directory.url)
        try await cache.store(entry, for: key("a"))
        await cache.flush()
        let file = directory.file("a")
        let url = URL(filePath: file)
        shard = url.deletingLastPathComponent().path
        // A complete entry with the right name. Only the link shows that it does not belong to the cache.
        let whole = try #require(FileManager.default.contents(atPath: file))
        precious = [url.lastPathComponent: whole, "letter": Data("precious".utf8)]
        for (name, content) in precious { try content.write(to: outside.url.appending(path: name)) }
        try replaceDirectory()
    }

    private func replaceDirectory() throws {
        try? FileManager.default.removeItem(atPath: shard)
        try #require(symlink(outside.path, shard) == 0)
    }

    private var isLink: Bool {
        var status = stat()
        return lstat(shard, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    private func expectUntouched() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: outside.path)
        #expect(names.sorted() == precious.keys.sorted())
        for (name, content) in precious {
            #expect(FileManager.default.contents(atPath: outside.path + "/" + name) == content)
        }
    }

    enum Reading: String, CaseIterable { case copied, mapped, pieces, blocking, withoutIndex }

    @Test(arguments: Reading.allCases)
    func `reading removes the link, is a miss, and is counted`(reading: Reading) async throws {
        if reading == .withoutIndex { unlink(directory.path + "/index") }
        let cache = FileDiskCache(directory: directory.url)
        switch reading {
        case .copied, .withoutIndex: #expect(await cache.entry(for: key("a")) == nil)
        case .mapped: #expect(await cache.mappedEntry(for: key("a")) == nil)
        case .pieces: #expect(await cache.chunks(for: key("a")) == nil)
        case .blocking: readBlocking(cache)
        }

        #expect(!isLink)
        #expect(cache.statistics.damagedEntries == 1)
        #expect(await cache.count == 0)
        try await cache.store(entry, for: key("a"))
        #expect(await cache.entry(for: key("a")) == entry)
        #expect(directory.files == [directory.file("a")])
        try expectUntouched()
    }

    private func readBlocking(_ cache: FileDiskCache) { #expect(cache.entryBlocking(for: key("a")) == nil) }

    @Test(arguments: [Durability.none, .directory])
    func `storing replaces the link by a directory`(durability: Durability) async throws {
        let cache = FileDiskCache(directory: directory.url, durability: durability)
        try await cache.store(bytes(7), for: key("a"))

        #expect(!isLink)
        #expect(await cache.data(for: key("a")) == bytes(7))
        #expect(cache.statistics.damagedEntries == 1)
        try expectUntouched()
    }

    @Test func `verification removes the link and reports the lost entries`() async throws {
        let verification = await cache.verify()

        #expect(verification.damagedNames == [key("a").fileName])
        #expect(!isLink)
        #expect(cache.statistics.damagedEntries == 1)
        #expect(await cache.verify() == DataCacheVerification())
        try expectUntouched()
    }

    enum Removing: String, CaseIterable { case one, resource, everything, trimming, cleaning, adopting, reconciling }

    @Test(arguments: Removing.allCases)
    func `removing keeps the files outside`(removing: Removing) async throws {
        let other = try TemporaryDirectory()
        switch removing {
        case .one: #expect(await !cache.remove(key("a")))
        case .resource: await cache.removeAll(of: ResourceKey("a"))
        case .everything: await cache.removeAll()
        case .trimming: await cache.trim(toSize: 0)
        case .cleaning:
            await FileDiskCache(directory: directory.url, limits: DataCacheLimits(maximumAge: .zero)).trim()
        case .adopting: #expect(await FileDiskCache(directory: other.url).adoptEntries(of: directory.url) == 0)
        case .reconciling:
            unlink(directory.path + "/index")
            #expect(await FileDiskCache(directory: directory.url, pathExtension: "png").count == 0)
        }
        try expectUntouched()
    }

    @Test func `an unfinished file is not written through a link`() async throws {
        unlink(shard)
        let unfinished = directory.path + "/unfinished"
        try FileManager.default.removeItem(atPath: unfinished)
        #expect(symlink(outside.path, unfinished) == 0)
        let left = outside.path + "/entry-left"
        try Data("mine".utf8).write(to: URL(filePath: left))

        let cache = FileDiskCache(directory: directory.url)
        try await cache.store(bytes(9), for: key("a"))

        #expect(await cache.data(for: key("a")) == bytes(9))
        #expect(directory.unfinished.isEmpty)
        #expect(FileManager.default.contents(atPath: left) == Data("mine".utf8))
        unlink(left)
        try expectUntouched()
    }

    @Test func `the cache's own directory may be a link`() async throws {
        let real = try TemporaryDirectory()
        unlink(shard)
        #expect(symlink(real.path, directory.path + "/link") == 0)
        let linked = FileDiskCache(directory: directory.url.appending(path: "link"))
        try await linked.store(entry, for: key("a"))
        #expect(await linked.entry(for: key("a")) == entry)
        #expect(real.files == [real.file("a")])
        #expect(await linked.verify().damagedNames.isEmpty)
    }

    // The paths that are refused and opened, with one system call and directory by directory, as older kernels need.
    @Test(arguments: [
        ("folder/file", O_RDONLY, 0), ("file", O_RDONLY, 0), ("folder", 0o10_000_000 | O_DIRECTORY, 0),
        ("folder/link", O_RDONLY, ELOOP), ("link/file", O_RDONLY, ELOOP), ("link", 0o10_000_000 | O_DIRECTORY, ELOOP),
        ("link/none", O_RDONLY, ELOOP), ("lost/file", O_RDONLY, ELOOP), ("file/file", O_RDONLY, ENOTDIR),
        ("none/file", O_RDONLY, ENOENT), ("folder/none", O_RDONLY, ENOENT),
        ("folder/new", O_RDWR | O_CREAT | O_EXCL, 0),
        ("folder/file", O_RDWR | O_CREAT | O_EXCL, EEXIST),
    ])
    func `both methods of opening refuse the same links`(path: String, flags: Int32, error: Int32) throws {
        let place = outside.path
        try FileManager.default.createDirectory(atPath: place + "/folder", withIntermediateDirectories: false)
        for name in ["file", "folder/file"] { try Data("x".utf8).write(to: URL(filePath: "\(place)/\(name)")) }
        #expect(symlink("folder", place + "/link") == 0)
        #expect(symlink("file", place + "/folder/link") == 0)
        #expect(symlink("nowhere", place + "/lost") == 0)
        let root = open(place, O_RDONLY | O_DIRECTORY)
        defer { close(root) }
        for open in [alcedo_open_beneath, alcedo_open_stepwise] {
            errno = 0
            let descriptor = open(root, path, flags, 0o600)
            #expect((descriptor < 0 ? errno : 0) == error)
            if descriptor >= 0 { close(descriptor) }
            if path == "folder/new" { unlink(place + "/folder/new") }
        }
    }
}
