import ExampleSupport
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
