import AlcedoLibc
import AlcedoProgramSupport
import CMalloc

/// An HTTP service for thumbnails, based on the image pipeline.
@main
enum ThumbnailServer {
    static func main() {
        ProgramWorker.runIfRequested()
        // Writing to a disconnected client must return an error instead of ending the process.
        signal(SIGPIPE, SIG_IGN)
        // With a fixed threshold, blocks of at least 128 KiB, such as those of most originals and images, are returned
        // to the system when they are freed. By default, glibc raises the threshold after such blocks are freed. It
        // then allocates them in the heaps of its threads, whose memory it rarely returns.
        #if canImport(Glibc)
            mallopt(M_MMAP_THRESHOLD, 128 << 10)
        #endif
        ExitStatus.end("thumbnail-server") {
            let options = try ServerOptions(CommandLine.arguments.dropFirst())
            switch options.action {
            case .help: Console.output(ServerOptions.help)
            case .sign(let target): Console.output("\(target)\n")
            case .serve: try await serve(options)
            }
            return .success
        }
    }

    /// Serves until a signal requests termination, then stops the server. Throws `HTTPServer.CannotListen` if the
    /// server cannot listen.
    private static func serve(_ options: ServerOptions) async throws {
        let (signals, sink) = AsyncStream.makeStream(of: Void.self)
        let interruption = Interruption { sink.yield() }
        var listening = options.listening
        listening.maxConcurrentConnections = OpenFiles.raiseLimit(for: listening.maxConcurrentConnections)
        if listening.maxConcurrentConnections < options.listening.maxConcurrentConnections {
            Console.notice(
                "thumbnail-server: accepting at most \(listening.maxConcurrentConnections) connections instead of "
                    + "\(options.listening.maxConcurrentConnections): raise the limit of open files (ulimit -n)")
        }
        let server = try RunningServer(options.stack, listening)
        if let problem = options.makeCacheDirectory() { Console.notice("thumbnail-server: \(problem)") }
        let host = options.listening.host
        Console.output("listening on http://\(host.contains(":") ? "[\(host)]" : host):\(server.port)\n")
        for await _ in signals { break }
        await server.stop(grace: options.grace)
        withExtendedLifetime(interruption) {}
    }
}

/// The limit of open files of this process. Each client connection uses one file.
enum OpenFiles {
    /// The number of files for purposes other than client connections: connections to origins and stores, and files on
    /// disk.
    static let reserve: UInt = 256

    /// Raises the limit to the number of files that the connections need, as far as the system permits. Returns the
    /// number of connections that the limit allows, from 1 to `connections`.
    static func raiseLimit(for connections: Int) -> Int {
        guard let limit = ResourceLimit.openFiles.current else { return connections }
        let plan = plan(for: connections, soft: limit.soft, hard: limit.hard)
        guard plan.soft > limit.soft else { return plan.connections }
        guard ResourceLimit.openFiles.set(soft: plan.soft, hard: limit.hard) else {
            return Self.plan(for: connections, soft: limit.soft, hard: limit.soft).connections
        }
        return plan.connections
    }

    /// Returns the limit to set, and the number of connections that it allows, from 1 to `connections`.
    static func plan(for connections: Int, soft: UInt, hard: UInt) -> (soft: UInt, connections: Int) {
        let limit = max(soft, min(hard, UInt(clamping: connections) + reserve))
        let capacity = limit - min(reserve, limit / 2)
        return (limit, max(1, min(connections, Int(clamping: capacity))))
    }
}
