import Alcedo
import AlcedoLibc
import Foundation

/// Makes thumbnails of files by a pipeline that keeps nothing.
struct PipelineThumbnails {
    static let side = 320

    private let pipeline: ImagePipeline
    private let width: Int

    /// - Parameter width: Threads that decode and resize.
    init(width: Int) {
        self.width = width
        var configuration = ImagePipeline.Configuration.standard(cacheDirectory: nil)
        configuration.memoryCache = nil
        configuration.maxConcurrentDecodes = width
        // libwebp would take a thread more.
        var webp = CodecRegistry.Entry.webp
        webp.decoder = WebPDecoder(usesThreads: false)
        configuration.codecs = configuration.codecs.adding(webp)
        pipeline = ImagePipeline(configuration)
    }

    func make(_ paths: [String]) async throws -> ThumbnailTime {
        let requests = paths.map { Self.request(.file($0)) }
        return try await ThumbnailTime.of {
            try await pipeline.loadAll(requests, maxConcurrentLoads: width == 1 ? 1 : 2 * width) { _, result in
                _ = try result.get()
            }
        }
    }

    static func request(_ source: ImageSource) -> ImageRequest {
        let size = PixelSize(width: side, height: side)
        return ImageRequest(
            source: source, processors: [.resize(fitting: size)], decoding: DecodingOptions(target: TargetSize(size)))
    }
}

/// What some work has taken.
struct ThumbnailTime {
    /// Milliseconds.
    var wall = 0.0
    /// Milliseconds of all threads of the process.
    var processor = 0.0

    static func + (first: Self, second: Self) -> Self {
        Self(wall: first.wall + second.wall, processor: first.processor + second.processor)
    }

    static func of(_ work: () async throws -> Void) async throws -> Self {
        let (wall, processor) = (milliseconds(CLOCK_MONOTONIC), milliseconds(CLOCK_PROCESS_CPUTIME_ID))
        try await work()
        return Self(
            wall: milliseconds(CLOCK_MONOTONIC) - wall, processor: milliseconds(CLOCK_PROCESS_CPUTIME_ID) - processor)
    }

    private static func milliseconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
    }
}

/// The pictures in a folder, by format.
struct ThumbnailFiles {
    let folder: URL
    /// In order of their names.
    let paths: [String]

    /// Throws ``BenchError`` when there are none.
    init(_ folder: URL) throws {
        self.folder = folder
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        paths = names.sorted().map { folder.appending(path: $0).path }
        guard !paths.isEmpty else { throw BenchError(description: "no images in \(folder.path)") }
    }

    func paths(of format: ImageFormat) -> [String] { paths.filter { $0.hasSuffix(".\(format)") } }
}
