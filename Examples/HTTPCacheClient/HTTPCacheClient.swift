import AlcedoCURL
import AlcedoCore
import AlcedoDiskCache
import AlcedoProgramSupport
import AlcedoURLResponseCache
import FoundationEssentials

/// Drives the HTTP cache over real sockets from JSON lines, for test suites of protocols.
@main
enum HTTPCacheClient {
    private static let help = """
        usage: http-cache-client

        Reads one request a line from standard input, as JSON, sends it through the HTTP cache, and writes one answer a
        line to standard output, as they come. Ends when standard input does.

        CACHE_DRIVER_DIR=DIR          keeps answers on disk, too; else in memory alone
        CACHE_DRIVER_PROFILE=shared   a cache that many users share; else one user's

        """

    static func main() {
        ExitStatus.end("http-cache-client") {
            switch CommandLine.arguments.dropFirst().first {
            case "--help", "-h": Console.output(help)
            case let word?: throw UsageError("it takes no argument, not '\(word)' either")
            case nil:
                let transport = ClientCache.transport(ProcessInfo.processInfo.environment)
                await Session(transport: transport).run()
                await ClientCache.finish(transport)
            }
            return .success
        }
    }
}

/// What the requests go through: the one place that names the parts.
private enum ClientCache {
    /// How long what goes on behind answers may take after the last of them.
    private static let grace = Duration.milliseconds(1_500)

    /// - Parameter environment: `CACHE_DRIVER_DIR` is where answers are kept on disk, nowhere without it;
    ///   `CACHE_DRIVER_PROFILE` is `shared` for a cache that many users share.
    static func transport(_ environment: [String: String]) -> CachingTransport {
        // Room for every call, and for as many questions that the cache asks behind an answer. Bodies stay as the server
        // sent them: whoever tests a cache wants to see that nothing on the way changes them.
        let connections = 2 * Session.maximumOutstanding
        var options = CURLOptions()
        (options.maxConcurrentTransfers, options.maxConcurrentTransfersPerHost, options.decodesContent) = (
            connections, connections, false
        )
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
