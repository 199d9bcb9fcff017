import AlcedoCore
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport

/// A pipeline of fakes. Its clock is manual, so nothing times out however slowly a test runs.
struct Stack: Sendable {
    let downloader: FakeDownloader
    let memory = DictionaryMemoryCache()
    let disk: FakeDataCache
    let codec = FakeCodec()
    let log = Log()
    let pipeline: ImagePipeline
    /// Runs the started loads and the work of the pipeline.
    let executor: ManualExecutor?

    init(
        _ downloader: FakeDownloader, colorConverter: (any ColorConverting)? = nil,
        disk: FakeDataCache = FakeDataCache(), serializer: any CacheSerializer = DefaultCacheSerializer(),
        maximumPendingWriteByteCount: Int = 1 << 20, intermediateByteLimit: Int = 1 << 20,
        clock: any TimeSource = ManualClock(), tracers: [any LoadTracing] = [], executor: ManualExecutor? = nil
    ) {
        self.downloader = downloader
        self.disk = disk
        self.executor = executor
        pipeline = ImagePipeline(
            ImagePipeline.Configuration(
                downloader: downloader, codecs: codec.registry, colorConverter: colorConverter, memoryCache: memory,
                diskCache: disk, serializer: serializer, observers: [log], tracers: tracers, clock: clock,
                maximumPendingWriteByteCount: maximumPendingWriteByteCount,
                intermediateByteLimit: intermediateByteLimit, taskExecutor: executor))
    }

    func load(_ request: ImageRequest) async throws -> ImageResponse { try await pipeline.load(request) }

    /// Starts a load on the executor.
    func start(_ request: ImageRequest) -> Task<ImageResponse, any Error> {
        Task(executorPreference: executor) { try await load(request) }
    }

    func stored(_ request: ImageRequest) -> Data? { disk.entries.value[request.originalKey]?.data }

    /// Returns the error of a load that must fail.
    func failure(_ request: ImageRequest) async throws -> PipelineError {
        do {
            let response = try await load(request)
            throw PipelineError(.processing, "ended with \(response)")
        } catch let error as PipelineError {
            return error
        }
    }
}
