import AlcedoCore
import AlcedoDiskCache
import AlcedoLibc
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct FailureTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    @Test(arguments: ["file", "file/below", "file/far/below", "link"])
    func `a directory that cannot be created is not writable, and reading it is a miss`(place: String) async throws {
        try Data("x".utf8).write(to: directory.url.appending(path: "file"))
        #expect(symlink("file", directory.path + "/link") == 0)

        try await expectNotWritable(FileDiskCache(directory: directory.url.appending(path: place)))

        #expect(FileManager.default.contents(atPath: directory.path + "/file") == Data("x".utf8))
    }

    @Test func `a path below a regular file is not writable`() async throws {
        try await expectNotWritable(FileDiskCache(directory: try #require(URL(string: "http://127.0.0.1/cache"))))
        #expect(!FileManager.default.fileExists(atPath: "/cache"))
    }

    @Test func `a path with a null character is not writable`() async throws {
        let url = try #require(URL(string: "file://\(directory.path)/a%00b"))
        try await expectNotWritable(FileDiskCache(directory: url))
        #expect(!FileManager.default.fileExists(atPath: directory.path + "/a"))
    }

    @Test func `files that are not the cache's own stay`() async throws {
        let names = ["ab/notes.txt", "unfinished/draft", "v1/\(String(repeating: "a", count: 62))", "notes.txt"]
        for name in names {
            let url = directory.url.appending(path: name)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(count: 5000).write(to: url)
        }
        let cache = FileDiskCache(directory: directory.url, sizeLimit: block)

        try await cache.store(Data(count: 500), for: key("a"))
        #expect(await cache.totalSize <= block)
        try await cache.store(Data(count: 500), for: key("b"))
        await cache.removeAll()

        for name in names { #expect(FileManager.default.fileExists(atPath: directory.path + "/" + name)) }
    }

    @Test func `a removed directory is created again`() async throws {
        let url = directory.url.appending(path: "cache")
        let cache = FileDiskCache(directory: url)
        for name in ["a", "b", "c"] { try await cache.store(bytes(100), for: key(name)) }
        try FileManager.default.removeItem(at: url)

        for name in ["a", "b", "c"] { #expect(await cache.data(for: key(name)) == nil) }
        #expect(await cache.totalSize == 0)
        try await cache.store(bytes(7), for: key("a"))

        #expect(await cache.data(for: key("a")) == bytes(7))
        #expect(await FileDiskCache(directory: url).data(for: key("a")) == bytes(7))
    }

    @Test func `a directory that is removed repeatedly loses entries and never returns wrong ones`() async throws {
        let url = directory.url.appending(path: "cache")
        let cache = FileDiskCache(directory: url)
        let stepCount = Watched(0)
        let remover = Task {
            for round in 0..<50 {
                try await stepCount.waitUntil { $0 >= round * 4 }
                try? FileManager.default.removeItem(at: url)
            }
        }
        for step in 0..<200 {
            stepCount.update { $0 = step }
            do {
                try await cache.store(bytes(100, seed: step % 7), for: key("\(step % 7)"))
            } catch let error as DataCacheError {
                #expect([.notWritable, .failed].contains(error.code))
            }
            let found = await cache.data(for: key("\(step % 7)"))
            #expect(found == nil || found == bytes(100, seed: step % 7))
        }
        try await remover.value
        try await cache.store(bytes(5), for: key("end"))
        #expect(await cache.data(for: key("end")) == bytes(5))
    }

    @Test func `a file in the place of a shard directory is an error`() async throws {
        let cache = FileDiskCache(directory: directory.url)
        let shard = directory.path + "/" + key("a").fileName.prefix(2)
        try Data("x".utf8).write(to: URL(filePath: shard))

        #expect(await cache.entry(for: key("a")) == nil)
        let error = await #expect(throws: DataCacheError.self) { try await cache.store(bytes(5), for: key("a")) }

        #expect(error?.code == .notWritable)
        #expect(directory.unfinished.isEmpty)
    }

    @Test func `a link to another directory is not emptied`() async throws {
        let precious = directory.path + "/precious"
        try FileManager.default.createDirectory(atPath: precious, withIntermediateDirectories: true)
        try Data("precious".utf8).write(to: URL(filePath: precious + "/letter"))
        let url = directory.url.appending(path: "cache")
        let cache = FileDiskCache(directory: url, sizeLimit: block)
        try await cache.store(bytes(5), for: key("a"))
        #expect(symlink(precious, url.path + "/af") == 0)

        let reopened = FileDiskCache(directory: url, sizeLimit: block)
        #expect(await reopened.totalSize <= block)
        try await reopened.store(bytes(20), for: key("b"))
        await reopened.removeAll()

        #expect(FileManager.default.contents(atPath: precious + "/letter") == Data("precious".utf8))
    }

    @Test func `unfinished files of an ended writer are removed, and those of a running one are kept`() async throws {
        try FileManager.default.createDirectory(
            at: directory.url.appending(path: "unfinished"), withIntermediateDirectories: true)
        // Whatever process has this ID now, it does not have these files open.
        for name in ["entry-1-1", "entry-999999999-4", "entry-\(getpid())-1", "entry-x"] {
            try bytes(100).write(to: URL(filePath: directory.path + "/unfinished/\(name)"))
        }
        let living = open(directory.path + "/unfinished/entry-2-2", O_WRONLY | O_CREAT, 0o600)
        defer { close(living) }
        #expect(flock(living, LOCK_EX) == 0)

        #expect(await FileDiskCache(directory: directory.url).totalSize == 0)

        #expect(directory.unfinished == ["entry-2-2"])
    }

    @Test func `files of an ended process with the same ID do not block a store`() async throws {
        try FileManager.default.createDirectory(
            at: directory.url.appending(path: "unfinished"), withIntermediateDirectories: true)
        // In containers every process may have the same ID, and serial numbers restart with each.
        var held: [Int32] = []
        defer { for file in held { close(file) } }
        for serial in 1...5000 {
            let file = creat(directory.path + "/unfinished/entry-\(getpid())-\(serial)", 0o600)
            flock(file, LOCK_EX)
            if serial > 900 { close(file) } else { held.append(file) }
        }
        let cache = FileDiskCache(directory: directory.url)
        for number in 0..<20 { try await cache.store(bytes(10), for: key("\(number)")) }
        #expect(await cache.data(for: key("19")) == bytes(10))
    }

    private func expectNotWritable(_ cache: FileDiskCache) async throws {
        #expect(await cache.entry(for: key("a")) == nil)
        #expect(await cache.totalSize == 0)
        #expect(!(await cache.remove(key("a"))))
        await cache.removeAll()
        let error = await #expect(throws: DataCacheError.self) { try await cache.store(bytes(5), for: key("a")) }
        #expect(error?.code == .notWritable)
        #expect(error?.message.isEmpty == false)
    }
}
