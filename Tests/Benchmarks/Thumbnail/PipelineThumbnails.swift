import Alcedo
import AlcedoLibc
import Foundation

/// Makes thumbnails of files with a pipeline without caches.
struct PipelineThumbnails {
    /// The maximum width and height of a thumbnail, in pixels.
    static let side = 320

    private let pipeline: ImagePipeline
    private let maxConcurrentDecodes: Int

    /// Creates a pipeline without caches. `maxConcurrentDecodes` is the number of threads that decode and resize.
    init(maxConcurrentDecodes: Int) {
        self.maxConcurrentDecodes = maxConcurrentDecodes
        var configuration = ImagePipeline.Configuration.standard(cacheDirectory: nil)
        configuration.memoryCache = nil
        configuration.maxConcurrentDecodes = maxConcurrentDecodes
        // Otherwise libwebp would use an additional thread.
        var webp = CodecRegistry.Entry.webp
        webp.decoder = WebPDecoder(usesThreads: false)
        configuration.codecs = CodecRegistry.inProcess.adding(webp)
        pipeline = ImagePipeline(configuration)
    }

    /// Returns a request for the thumbnail of a source.
    ///
    /// - Parameter enlarges: Whether an image that is smaller than a thumbnail is enlarged, which a drawing is for.
    static func request(_ source: ImageSource, enlarges: Bool = false) -> ImageRequest {
        let size = PixelSize(width: side, height: side)
        return ImageRequest(source: source, processors: [.resize(fitting: size, enlarges: enlarges)])
    }

    /// Returns the thumbnail of a file.
    func thumbnail(of path: String, enlarges: Bool = false) async throws -> DecodedImage {
        try await pipeline.image(for: Self.request(.file(path), enlarges: enlarges))
    }

    /// Returns at most `limit` frames of the thumbnail of a file, of which a still image has one.
    func frames(of path: String, limit: Int, enlarges: Bool = false) async throws -> [DecodedImage] {
        let image = try await thumbnail(of: path, enlarges: enlarges)
        guard let source = image.frames, limit > 1 else { return [image] }
        return try [image]
            + (1..<max(1, min(limit, source.frameCount))).map { DecodedImage(pixels: try source.frame(at: $0)) }
    }

    func make(_ paths: [String]) async throws -> ThumbnailTime {
        let requests = paths.map { Self.request(.file($0)) }
        let maxConcurrentLoads = maxConcurrentDecodes == 1 ? 1 : 2 * maxConcurrentDecodes
        return try await ThumbnailTime.of {
            try await pipeline.loadAll(requests, maxConcurrentLoads: maxConcurrentLoads) { _, result in
                _ = try result.get()
            }
        }
    }
}

/// The duration of an operation.
struct ThumbnailTime {
    /// The wall-clock time, in milliseconds.
    var wall = 0.0
    /// The processor time of all threads of the process, in milliseconds.
    var processor = 0.0

    static func + (first: Self, second: Self) -> Self {
        Self(wall: first.wall + second.wall, processor: first.processor + second.processor)
    }

    static func - (first: Self, second: Self) -> Self {
        Self(wall: first.wall - second.wall, processor: first.processor - second.processor)
    }

    /// The time since an unspecified start.
    static var now: Self {
        Self(wall: milliseconds(CLOCK_MONOTONIC), processor: milliseconds(CLOCK_PROCESS_CPUTIME_ID))
    }

    static func of(_ work: () async throws -> Void) async throws -> Self {
        let start = now
        try await work()
        return now - start
    }

    private static func milliseconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
    }
}

/// The image files in a directory, by format.
struct ThumbnailFiles {
    /// The paths, sorted by name.
    let paths: [String]

    /// Lists a directory. Throws ``BenchError`` if it has no files.
    init(_ directory: URL) throws {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
        paths = names.sorted().map { directory.appending(path: $0).path }
        guard !paths.isEmpty else { throw BenchError(description: "no images in \(directory.path)") }
    }

    func paths(of format: ImageFormat) -> [String] { paths.filter { $0.hasSuffix(".\(format)") } }
}
