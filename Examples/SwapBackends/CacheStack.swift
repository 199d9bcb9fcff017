import Alcedo
import AlcedoHTTP
import AlcedoSQLiteCache
import Foundation
import Synchronization

/// A stack of caches for an app. The app's code is the same with each stack; only the values of its configuration
/// differ.
enum CacheStack: String, CaseIterable {
    /// Decoded images in memory.
    case memory
    /// Decoded images in memory, and encoded bytes in files.
    case files
    /// Decoded images in memory, and encoded bytes in a database.
    case sqlite
    /// HTTP responses in memory and on disk, reused as their servers allow. Images are decoded on each load.
    case responses

    /// Returns a configuration with newly opened caches, as after a process start. Only this stack uses the directory.
    func configuration(in directory: URL, network: some HTTPTransport) -> ImagePipeline.Configuration {
        var configuration = ImagePipeline.Configuration(
            downloader: Downloader(transport: network), codecs: .standard,
            memoryCache: ImageMemoryCache(costLimit: 64 << 20))
        switch self {
        case .memory: break
        case .files: configuration.diskCache = FileDiskCache(directory: directory, sizeLimit: 64 << 20)
        case .sqlite: configuration.diskCache = SQLiteDiskCache(directory: directory, sizeLimit: 64 << 20)
        case .responses:
            let responses = URLResponseCache(disk: FileDiskCache(directory: directory, sizeLimit: 64 << 20))
            configuration.downloader = Downloader(transport: CachingTransport(wrapping: network, cache: responses))
            configuration.responseCache = responses
            configuration.memoryCache = nil
        }
        return configuration
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
