import Alcedo
import AlcedoHTTP
import AlcedoSQLiteCache
import Foundation
import Synchronization

/// A stack of caches for an app, whose code is the same with each stack. Only the configurations differ.
enum CacheStack: String, CaseIterable {
    /// Decoded images in memory.
    case memory
    /// Decoded images in memory, and encoded bytes in files.
    case files
    /// Decoded images in memory, and encoded bytes in a database.
    case sqlite
    /// HTTP responses in memory and on disk, reused as their servers allow. Images are decoded on each load.
    case responses

    /// Returns a newly opened cache on disk, as after a process start. Only this stack uses the directory.
    func diskCache(in directory: URL) -> (any MeasurableDataCache)? {
        switch self {
        case .memory: nil
        case .files, .responses: FileDiskCache(directory: directory, sizeLimit: 64 << 20)
        case .sqlite: SQLiteDiskCache(directory: directory, sizeLimit: 64 << 20)
        }
    }

    func configuration(disk: (any MeasurableDataCache)?, network: some HTTPTransport) -> ImagePipeline.Configuration {
        guard self == .responses else {
            return ImagePipeline.Configuration(
                downloader: Downloader(transport: network), codecs: .standard,
                memoryCache: ImageMemoryCache(costLimit: 64 << 20), diskCache: disk)
        }
        let responses = URLResponseCache(disk: disk)
        let transport = CachingTransport(wrapping: network, cache: responses)
        return ImagePipeline.Configuration(
            downloader: Downloader(transport: transport, responseCache: responses), codecs: .standard)
    }
}

/// A network transport that counts responses with any status, including `304` and `404`.
final class CountedNetwork: HTTPTransport {
    private let transport = CURLTransport()
    private let count = Atomic(0)
    var responseCount: Int { count.load(ordering: .relaxed) }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let response = try await transport.send(request)
        count.add(1, ordering: .relaxed)
        return response
    }
}
