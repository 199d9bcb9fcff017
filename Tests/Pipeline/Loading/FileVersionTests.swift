import AlcedoCore
import AlcedoDownloader
import AlcedoHTTP
import AlcedoLibc
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// Images of a local file are served until the file changes.
@Suite(.timeLimit(.minutes(10)))
struct FileVersionTests {
    private let directory: TemporaryDirectory
    private let memory = DictionaryMemoryCache()
    private let disk = FakeDataCache()

    init() throws { directory = try TemporaryDirectory() }

    private var file: URL { directory.url.appending(path: "picture") }

    private func write(_ number: Int) throws { try level(number).write(to: file) }

    private func pipeline(_ downloader: any Downloading = Downloader(transport: FakeTransport.offline)) -> ImagePipeline
    {
        ImagePipeline(
            ImagePipeline.Configuration(
                downloader: downloader, codecs: FakeCodec().registry, memoryCache: memory, diskCache: disk,
                writeTimeout: .seconds(3_600)))
    }

    private func request(_ change: (inout ImageRequest) -> Void = { _ in }) -> ImageRequest {
        var request = ImageRequest(source: .file(file.path))
        change(&request)
        return request
    }

    /// Returns a request whose variant is stored on disk.
    private func bright(_ change: (inout ImageRequest) -> Void = { _ in }) -> ImageRequest {
        request {
            $0.processors = [Brighten(step: 1)]
            $0.dataCachePolicy = .processed
            change(&$0)
        }
    }

    @Test(arguments: [8, 17])
    func `a modified file is loaded again`(edited: Int) async throws {
        let pipeline = pipeline()
        try write(7)
        #expect(try await pipeline.load(request()).image.level == 7)
        #expect(try await pipeline.load(request()).layer == .memory)
        #expect(pipeline.cachedImage(for: request())?.level == 7)

        try write(edited)

        #expect(pipeline.cachedImage(for: request()) == nil)
        #expect(await pipeline.cache.contains(request()) == [])
        #expect(Int(try await pipeline.load(request()).image.level) == edited)
        #expect(pipeline.cachedImage(for: request()).map { Int($0.level) } == edited)
        #expect(memory.count == 1)
    }

    @Test(arguments: [8, 17])
    func `an image of an earlier file version is not served from disk`(edited: Int) async throws {
        try write(7)
        let first = pipeline()
        _ = try await first.load(bright())
        await first.flush()
        memory.removeAll()
        #expect(try await pipeline().load(bright()).layer == .disk)

        try write(edited)
        memory.removeAll()

        let response = try await first.load(bright())
        #expect(response.layer == .local)
        #expect(Int(response.image.level) == edited + 1)
        await first.flush()
        #expect(disk.count == 1)
    }

    @Test func `modifications in quick succession are detected`() async throws {
        let pipeline = pipeline()
        for number in 10..<60 {
            try write(number)
            #expect(Int(try await pipeline.load(request()).image.level) == number)
        }
    }

    @Test func `a modification that restores the modification time is detected`() async throws {
        let pipeline = pipeline()
        try write(7)
        var status = stat()
        try #require(stat(file.path, &status) == 0)
        _ = try await pipeline.load(request())

        try write(8)
        let times = [status.st_atim, status.st_mtim]
        try #require(utimensat(AT_FDCWD, file.path, times, 0) == 0)

        #expect(try await pipeline.load(request()).image.level == 8)
    }

    @Test func `a file that is not tracked stays as it was loaded`() async throws {
        let pipeline = pipeline()
        try write(7)
        let fixed = bright { $0.tracksFileChanges = false }
        _ = try await pipeline.load(fixed)
        await pipeline.flush()

        try write(8)

        #expect(pipeline.cachedImage(for: fixed)?.level == 8)
        memory.removeAll()
        let response = try await pipeline.load(fixed)
        #expect(response.layer == .disk)
        #expect(response.image.level == 8)
    }

    @Test func `a removed file is not served`() async throws {
        let pipeline = pipeline()
        try write(7)
        _ = try await pipeline.load(request())

        try FileManager.default.removeItem(at: file)

        #expect(pipeline.cachedImage(for: request()) == nil)
        let error = await #expect(throws: PipelineError.self) { try await pipeline.load(request()) }
        #expect((error?.cause as? DownloadError)?.code == .unreadableFile)
        await pipeline.cache.remove(request())
        #expect(memory.count == 0)
    }

    @Test func `removal removes the stored version`() async throws {
        let pipeline = pipeline()
        try write(7)
        for request in [request(), bright()] { _ = try await pipeline.load(request) }
        await pipeline.flush()
        try write(8)

        await pipeline.cache.remove(bright())

        #expect(memory.count == 1)
        #expect(disk.count == 0)
    }

    @Test func `removal of all variants removes all versions`() async throws {
        for number in 1...3 {
            try write(number)
            let pipeline = pipeline()
            _ = try await pipeline.load(bright())
            await pipeline.flush()
        }
        #expect(disk.count == 3)
        try write(4)

        await pipeline().cache.remove(bright(), allVariants: true)

        #expect(memory.count == 0)
        #expect(disk.count == 0)
    }

    @Test func `a file that is modified during its read is not stored`() async throws {
        try write(7)
        let changes = Watched([8])
        let pipeline = pipeline(
            FakeDownloader { [file] _, _ in
                let data = try Data(contentsOf: file)
                for number in changes.update({ numbers in
                    defer { numbers = [] }
                    return numbers
                }) { try level(number).write(to: file) }
                return Download(data: data)
            })

        #expect(try await pipeline.load(bright()).image.level == 8)
        await pipeline.flush()
        #expect(memory.count == 0)
        #expect(disk.count == 0)

        #expect(try await pipeline.load(bright()).image.level == 9)
        #expect(pipeline.cachedImage(for: bright())?.level == 9)
    }

    @Test func `the cached image shown first is never of an earlier version`() async throws {
        let pipeline = pipeline()
        try write(7)
        _ = try await pipeline.load(request())
        try write(8)
        let shown = Watched<[UInt8]>([])

        let response = try await pipeline.load(request { $0.showsCachedFirst = true }, priority: PriorityHandle()) {
            if case .cached(let response) = $0 { shown.update { $0.append(response.image.level) } }
        }

        #expect(response.image.level == 8)
        #expect(shown.value == [8])
    }

    @Test func `prefetching of a file can be stopped after it was modified`() async throws {
        let prefetcher = ImagePrefetcher(pipeline: pipeline())
        prefetcher.isPaused = true
        try write(7)
        prefetcher.start([request()])

        try write(8)
        prefetcher.start([request()])
        #expect(prefetcher.count == 1)
        prefetcher.stop([request()])

        #expect(prefetcher.count == 0)
    }
}
