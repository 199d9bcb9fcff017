import Alcedo
import AlcedoHTTP
import AlcedoSQLiteCache
import Foundation
import Synchronization

/// The caches of an app. The app is the same with each: only the values of its configuration differ.
enum CacheStack: String, CaseIterable {
    /// Decoded images in memory.
    case memory
    /// Decoded images in memory, and the bytes as they came in files.
    case files
    /// The same with the bytes in a database.
    case sqlite
    /// HTTP responses in memory and on disk, used as their servers allow; each image is decoded again.
    case responses

    /// Opens the parts, as a process that starts does.
    ///
    /// - Parameter directory: Belongs to this stack alone.
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

/// The network. Counts what servers answer, a `304` that confirms a stored response and a `404` as well.
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
