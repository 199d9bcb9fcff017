import AlcedoLibc
import AlcedoProgramSupport
import CMalloc

/// A small HTTP service of thumbnails over the pipeline.
@main
enum ThumbnailServer {
    static func main() {
        // A client that is gone is an error of its own, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        // Originals and pictures are then given back to the system one by one. By default glibc comes to keep them in the
        // heaps of its threads, and what was needed once is never given back.
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

    /// Serves until a signal says stop.
    private static func serve(_ options: ServerOptions) async throws {
        let (signals, sink) = AsyncStream.makeStream(of: Void.self)
        let interruption = Interruption { sink.yield() }
        var listening = options.listening
        listening.maximumConnections = OpenFiles.raiseLimit(for: listening.maximumConnections)
        if listening.maximumConnections < options.listening.maximumConnections {
            Console.notice(
                "thumbnail-server: \(listening.maximumConnections) connections at most, not "
                    + "\(options.listening.maximumConnections): the system's limit of open files is too low")
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

/// How many files this process may have open, of which each connection is one.
enum OpenFiles {
    /// What everything but connections of clients needs: connections to origins and stores, pictures on disk.
    static let reserve: UInt = 256

    /// Raises the limit to what so many connections need, as far as the system lets, and returns for how many there is room.
    static func raiseLimit(for connections: Int) -> Int {
        guard let limit = OpenFileLimit.current else { return connections }
        let plan = plan(for: connections, soft: limit.soft, hard: limit.hard)
        guard plan.soft > limit.soft else { return plan.connections }
        guard OpenFileLimit.set(soft: plan.soft, hard: limit.hard) else {
            return Self.plan(for: connections, soft: limit.soft, hard: limit.soft).connections
        }
        return plan.connections
    }

    /// The limit to be set, and how many connections it is enough for.
    static func plan(for connections: Int, soft: UInt, hard: UInt) -> (soft: UInt, connections: Int) {
        let limit = max(soft, min(hard, UInt(clamping: connections) + reserve))
        let capacity = limit - min(reserve, limit / 2)
        return (limit, max(1, min(connections, Int(clamping: capacity))))
    }
}
