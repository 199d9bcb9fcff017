import Alcedo
import AlcedoHTTP
import AlcedoSQLiteCache
import Foundation

/// Which caches an app has. The app is the same with each: only the values of its configuration differ.
enum CacheStack: String, CaseIterable {
    /// Decoded images in memory, and nothing else.
    case memory
    /// Decoded images in memory, and the bytes as they came in files.
    case files
    /// The same with the bytes in a database.
    case sqlite
    /// HTTP answers alone, in memory and on disk, used as their servers allow; each image is decoded anew.
    case responses

    /// What the stack is made of, in words.
    var words: String {
        switch self {
        case .memory: "decoded images in memory"
        case .files: "decoded images in memory, bytes in files"
        case .sqlite: "decoded images in memory, bytes in a database"
        case .responses: "HTTP answers in memory and on disk"
        }
    }

    /// The parts, opened as a process that starts opens them.
    ///
    /// - Parameters:
    ///   - folder: Belongs to this stack alone.
    ///   - metrics: Are told what each layer does.
    func configuration(in folder: URL, metrics: SwitchedMetrics) -> ImagePipeline.Configuration {
        var transport: any HTTPTransport = CountedTransport(transport: CURLTransport(), tally: metrics.servers)
        var responses: URLResponseCache?
        if self == .responses {
            let cache = URLResponseCache(disk: FileDiskCache(directory: folder, sizeLimit: 64 << 20))
            transport = CountedTransport(
                transport: CachingTransport(wrapping: transport, cache: cache), tally: metrics.responses)
            responses = cache
        }
        return ImagePipeline.Configuration(
            downloader: Downloader(transport: transport),
            codecs: .standard,
            memoryCache: self == .responses ? nil : ImageMemoryCache(costLimit: 64 << 20),
            diskCache: disk(folder),
            responseCache: responses,
            observer: metrics)
    }

    private func disk(_ folder: URL) -> (any DataCaching)? {
        switch self {
        case .memory, .responses: nil
        case .files: FileDiskCache(directory: folder, sizeLimit: 64 << 20)
        case .sqlite: SQLiteDiskCache(directory: folder, sizeLimit: 64 << 20)
        }
    }
}
