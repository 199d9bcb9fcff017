import AlcedoLibc
import AlcedoProgramSupport
import CMalloc

/// An HTTP service for thumbnails, based on the image pipeline.
@main
enum ThumbnailServer {
    static func main() {
        #if Sandbox
            // The sandbox starts this program again for its workers, which never return from this call.
            ProgramWorker.runIfRequested()
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
    /// server cannot listen, ``OpenFiles/TooFew``, or `ServerCodecs.SandboxUnavailable` if the sandbox is required and
    /// cannot start.
    private static func serve(_ options: ServerOptions) async throws {
        var options = options
        let (signals, sink) = AsyncStream.makeStream(of: Void.self)
        let interruption = Interruption { sink.yield() }
        var listening = options.listening
        let files = try OpenFiles.raiseLimit(
            for: listening.maxConcurrentConnections,
            workers: ServerCodecs.workerCount(options.sandbox, options.stack),
            originals: options.stack.limits.maxConcurrentOriginals)
        if files.connections < listening.maxConcurrentConnections
            || files.originals < options.stack.limits.maxConcurrentOriginals
        {
            Console.notice(
                "thumbnail-server: accepting at most \(files.connections) connections and fetching at most "
                    + "\(files.originals) originals at once: raise the limit of open files (ulimit -n)")
        }
        listening.maxConcurrentConnections = files.connections
        let problem = options.makeCacheDirectory()
        var stack = options.stack
        stack.limits.maxConcurrentOriginals = files.originals
        let codecs = try ServerCodecs.start(options.sandbox, stack)
        let server = try RunningServer(stack, listening, codecs: codecs)
        if let notice = codecs.notice { Console.notice("thumbnail-server: \(notice)") }
        if let problem { Console.notice("thumbnail-server: \(problem)") }
        let host = options.listening.host
        Console.output("listening on http://\(host.contains(":") ? "[\(host)]" : host):\(server.port)\n")
        for await _ in signals { break }
        await server.stop(grace: options.grace)
        withExtendedLifetime(interruption) {}
    }
}

/// The limit of open files of this process, and its use by client connections, originals and workers.
enum OpenFiles {
    /// The numbers of connections and originals for which there are files.
    struct Plan: Equatable {
        /// The limit of open files to set.
        var limit: UInt
        var connections: Int
        var originals: Int
    }

    struct TooFew: Error, CustomStringConvertible {
        var limit: UInt
        var needed: UInt

        var description: String {
            "the limit of open files is \(limit), and the server needs at least \(needed): raise it (ulimit -n)"
        }
    }

    /// The number of files for everything else: sockets of the server and of stores, files of the caches, and files
    /// that the runtime opens for a moment. libdispatch reads the state of its threads in `/proc`, and ends the process
    /// if it cannot open a file.
    ///
    /// Eight of them are for connections beyond the maximum.
    static let base: UInt = 72
    /// The number of files for an original: two while libcurl tries both kinds of addresses, and two for the lookup of
    /// its host.
    static let filesPerOriginal = 4
    /// The number of files for a worker: its socket, two blocks of shared memory, the process and its statistics.
    static let filesPerWorker: UInt = 5

    /// Raises the limit to the number of files that the connections, originals and workers need, as far as the system
    /// permits. Returns the numbers that the limit allows. Throws ``TooFew`` if it allows not even a few.
    static func raiseLimit(for connections: Int, workers: Int = 0, originals: Int = 0) throws(TooFew) -> Plan {
        guard let limit = ResourceLimit.openFiles.current else {
            return Plan(limit: .max, connections: connections, originals: originals)
        }
        let plan = try plan(
            for: connections, workers: workers, originals: originals, soft: limit.soft, hard: limit.hard)
        if plan.limit <= limit.soft || ResourceLimit.openFiles.set(soft: plan.limit, hard: limit.hard) { return plan }
        return try Self.plan(
            for: connections, workers: workers, originals: originals, soft: limit.soft, hard: limit.soft)
    }

    /// Returns the limit to set, and the numbers that it allows. Connections and originals share the files if there are
    /// too few for all.
    static func plan(
        for connections: Int, workers: Int = 0, originals: Int = 0, soft: UInt, hard: UInt
    ) throws(TooFew) -> Plan {
        let own = base + filesPerWorker * UInt(clamping: workers)
        let wanted = own + UInt(clamping: connections) + UInt(clamping: filesPerOriginal * originals)
        let limit = max(soft, min(hard, wanted))
        guard limit >= own + 8 else { throw TooFew(limit: limit, needed: own + 8) }
        let spare = Int(clamping: limit - own)
        let connections = min(connections, max(spare / 2, spare - filesPerOriginal * originals))
        return Plan(
            limit: limit, connections: connections,
            originals: min(originals, (spare - connections) / filesPerOriginal))
    }
}
