import AlcedoCore
import AlcedoDiskCache
import AlcedoLibc
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// Files that keep the path extensions of their URLs.
@Suite(.timeLimit(.minutes(10)))
struct PathExtensionTests {
    private let directory: TemporaryDirectory
    private let keys = [
        key("https://a.example/photo.JPG?width=80&name=x.png"), key("https://a.example/photo.JPG?a", variant: "80"),
        key("https://a.example/icon.webp#top"), key("https://a.example/icon"), key("avatar.tiff"),
    ]
    private let suffixes = [".jpg", ".jpg", ".webp", "", ".tiff"]

    init() throws { directory = try TemporaryDirectory() }

    private func cache(keeps: Bool = true, pathExtension: String? = nil) -> FileDiskCache {
        FileDiskCache(directory: directory.url, pathExtension: pathExtension, keepsPathExtensions: keeps)
    }

    /// Returns the expected paths of the entries' files, sorted.
    private func paths(_ suffixes: [String]) -> [String] {
        zip(keys, suffixes).map { directory.file($0) + $1 }.sorted()
    }

    private func store(in cache: FileDiskCache) async throws {
        for (number, key) in keys.enumerated() { try await cache.store(bytes(100 + number), for: key) }
    }

    private func expectAll(in cache: FileDiskCache) async {
        for (number, key) in keys.enumerated() {
            #expect(await cache.data(for: key) == bytes(100 + number))
            #expect(await cache.mappedEntry(for: key)?.data == bytes(100 + number))
            #expect(await cache.contains(key))
            #expect(await cache.key(named: key.fileName) == key)
        }
        #expect(await cache.count == keys.count)
        #expect(await cache.totalSize == directory.fileSizes)
        #expect(await cache.verify() == DataCacheVerification(checkedCount: keys.count, byteCount: directory.fileSizes))
        // A use that is written later, while another cache has the directory, would change the extensions back.
        await cache.flush()
    }

    @Test(arguments: [
        ("https://a.example/a.PNG", "png"), ("https://a.example/a.jpeg?b=c.gif", "jpeg"), ("file:///a%20.heic", "heic"),
        ("https://a.example/a.png 0123", "png"), ("https://a.example/a.tar.gz", "img"), ("https://a.b/png", "img"),
        ("https://a.example/a.png/", "img"), ("https://a.example/a.png.", "img"), ("https://a.b/a.html", "img"),
        ("a.jpgg", "img"), (".gif", "gif"), ("", "img"),
    ])
    func `a file has the extension of an image format that ends the URL, or else that of the cache`(
        resource: String, expected: String
    ) async throws {
        let cache = cache(pathExtension: "img")
        try await cache.store(bytes(10), for: key(resource))
        #expect(directory.files == [directory.file(key(resource)) + "." + expected])
        #expect(cache.path(for: key(resource))?.path == directory.files.first)
        #expect(await cache.data(for: key(resource)) == bytes(10))
    }

    @Test func `every read finds files with extensions, also in the next process`() async throws {
        let cache = cache()
        try await store(in: cache)
        #expect(directory.files == paths(suffixes))
        await expectAll(in: cache)
        await expectAll(in: self.cache())
    }

    @Test func `every removal removes files with extensions`() async throws {
        let cache = cache()
        try await store(in: cache)
        #expect(await cache.remove(keys[2]))
        #expect(await cache.removeAll(of: keys[1].resource) == 1)
        #expect(directory.files.count == 3)
        try Data(count: 50).write(to: URL(filePath: directory.file(keys[0]) + ".jpg"))
        #expect(await cache.entry(for: keys[0]) == nil)
        #expect(directory.files.count == 2)
        #expect(await cache.trim(count: 1).removals.map(\.name) == [keys[3].fileName])
        #expect(directory.files == [directory.file(keys[4]) + ".tiff"])
        await cache.removeAll()
        #expect(directory.files.isEmpty)
    }

    @Test func `another rule for the extensions keeps the entries`() async throws {
        let first = cache(keeps: false, pathExtension: "img")
        try await store(in: first)
        await first.flush()
        for _ in 0..<2 {
            await expectAll(in: cache())
            #expect(directory.files == paths(suffixes))
            await expectAll(in: cache(pathExtension: "dat"))
            #expect(directory.files == paths(suffixes.map { $0.isEmpty ? ".dat" : $0 }))
            await expectAll(in: cache(keeps: false))
            #expect(directory.files == paths(suffixes.map { _ in "" }))
        }
    }

    @Test func `a lost index finds the files, gives each its extension, and counts each entry once`() async throws {
        let first = cache()
        try await store(in: first)
        await first.flush()
        let (photo, icon) = (directory.file(keys[0]), directory.file(keys[2]))
        try FileManager.default.copyItem(atPath: photo + ".jpg", toPath: photo)
        try FileManager.default.moveItem(atPath: icon + ".webp", toPath: icon + ".gif")
        try FileManager.default.removeItem(at: directory.url.appending(path: "index"))

        // A file with another name is found by the listing only, for which the count waits.
        let next = cache()
        #expect(await next.count == keys.count)
        await expectAll(in: next)
        #expect(directory.files == paths(suffixes))
    }

    @Test func `adopted entries get the extensions of the cache that adopts them`() async throws {
        let other = try TemporaryDirectory()
        let source = FileDiskCache(directory: other.url, pathExtension: "img")
        try await store(in: source)
        await source.flush()
        let cache = cache()
        #expect(await cache.adoptEntries(of: other.url) == keys.count)
        #expect(directory.files == paths(suffixes))
        await expectAll(in: cache)

        let plain = FileDiskCache(directory: other.url)
        #expect(await plain.adoptEntries(of: directory.url) == keys.count)
        #expect(other.files == keys.map { other.file($0) }.sorted())
    }
}
