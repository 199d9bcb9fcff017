import AlcedoCURL
import AlcedoCore
import AlcedoDiskCache
import AlcedoURLResponseCache
import FoundationEssentials

/// What the requests go through: the one place that names the parts.
enum ClientCache {
    /// How long what goes on behind answers may take after the last of them.
    private static let grace = Duration.milliseconds(1_500)

    /// - Parameter environment: `CACHE_DRIVER_DIR` is where answers are kept on disk, nowhere without it;
    ///   `CACHE_DRIVER_PROFILE` is `shared` for a cache that many users share.
    static func transport(_ environment: [String: String]) -> CachingTransport {
        // Room for every call, and for as many questions that the cache asks behind an answer. Bodies stay as the server
        // sent them: whoever tests a cache wants to see that nothing on the way changes them.
        let connections = 2 * Session.maximumOutstanding
        var options = CURLTransport.Options()
        (options.connections, options.connectionsPerHost, options.decodesContent) = (connections, connections, false)
        let network = CURLTransport(options: options)
        let isShared = environment["CACHE_DRIVER_PROFILE"] == "shared"
        let disk = environment["CACHE_DRIVER_DIR"].map { FileDiskCache(directory: URL(filePath: $0)) }
        var rules = ResponseCacheRules(role: isShared ? .shared(targets: ["CDN-Cache-Control"]) : .private)
        rules.respondsWhenDisconnected = true
        return CachingTransport(wrapping: network, cache: URLResponseCache(disk: disk, rules: rules))
    }

    /// Returns when everything is stored, or when that takes too long.
    static func finish(_ transport: CachingTransport) async {
        let (end, signal) = AsyncStream.makeStream(of: Never.self)
        Task {
            await transport.finish()
            signal.finish()
        }
        Task {
            try await Task.sleep(for: grace)
            signal.finish()
        }
        for await _ in end {}
    }
}
