import AlcedoLibc
import AlcedoProgramSupport
import CMalloc

#if Sandbox
    import AlcedoSandbox
#endif

/// An HTTP service for thumbnails, based on the image pipeline.
@main
enum ThumbnailServer {
    static func main() {
        #if Sandbox
            // The sandbox starts this program again for its workers, which never return from this call.
            SandboxWorker.runIfRequested(.programs, prepare: ProgramWorker.prepare)
        #endif
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
    /// server cannot listen, or `ServerCodecs.SandboxUnavailable` if the sandbox is required and cannot start.
    private static func serve(_ options: ServerOptions) async throws {
        var options = options
        let (signals, sink) = AsyncStream.makeStream(of: Void.self)
        let interruption = Interruption { sink.yield() }
        var listening = options.listening
        listening.maxConcurrentConnections = OpenFiles.raiseLimit(
            for: listening.maxConcurrentConnections,
            workers: ServerCodecs.workerCount(options.sandbox, options.stack),
            originals: options.stack.limits.maxConcurrentOriginals)
        if listening.maxConcurrentConnections < options.listening.maxConcurrentConnections {
            Console.notice(
                "thumbnail-server: accepting at most \(listening.maxConcurrentConnections) connections instead of "
                    + "\(options.listening.maxConcurrentConnections): raise the limit of open files (ulimit -n)")
        }
        let problem = options.makeCacheDirectory()
        let codecs = try ServerCodecs.start(options.sandbox, options.stack)
        let server = try RunningServer(options.stack, listening, codecs: codecs)
        if let notice = codecs.notice { Console.notice("thumbnail-server: \(notice)") }
        if let problem { Console.notice("thumbnail-server: \(problem)") }
        let host = options.listening.host
        Console.output("listening on http://\(host.contains(":") ? "[\(host)]" : host):\(server.port)\n")
        for await _ in signals { break }
        await server.stop(grace: options.grace)
        withExtendedLifetime(interruption) {}
    }
}

/// The limit of open files of this process. Each client connection uses one file, and each worker of the sandbox five.
enum OpenFiles {
    /// The number of files for purposes other than client connections: connections to origins and stores, and files on
    /// disk.
    static let reserve: UInt = 256
    /// The number of originals that the reserve suffices for. Each further one uses one file more.
    static let originalsInReserve = 128
    /// The number of files for a worker: its socket, two blocks of shared memory, the process and its statistics.
    static let filesPerWorker: UInt = 5

    /// Raises the limit to the number of files that the connections and workers need, as far as the system permits.
    /// Returns the number of connections that the limit allows, from 1 to `connections`.
    static func raiseLimit(for connections: Int, workers: Int = 0, originals: Int = 0) -> Int {
        guard let limit = ResourceLimit.openFiles.current else { return connections }
        let plan = plan(
            for: connections, workers: workers, originals: originals, soft: limit.soft, hard: limit.hard)
        guard plan.soft > limit.soft else { return plan.connections }
        guard ResourceLimit.openFiles.set(soft: plan.soft, hard: limit.hard) else {
            return Self.plan(
                for: connections, workers: workers, originals: originals, soft: limit.soft, hard: limit.soft
            ).connections
        }
        return plan.connections
    }

    /// Returns the limit to set, and the number of connections that it allows, from 1 to `connections`.
    static func plan(
        for connections: Int, workers: Int = 0, originals: Int = 0, soft: UInt, hard: UInt
    ) -> (soft: UInt, connections: Int) {
        let reserve =
            Self.reserve + filesPerWorker * UInt(clamping: workers) + UInt(clamping: originals - originalsInReserve)
        let limit = max(soft, min(hard, UInt(clamping: connections) + reserve))
        let capacity = limit - min(reserve, limit / 2)
        return (limit, max(1, min(connections, Int(clamping: capacity))))
    }
}
