import AlcedoLibc
import CMalloc
import ExampleSupport

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
        listening.connections = OpenFiles.makeRoom(for: listening.connections)
        if listening.connections < options.listening.connections {
            Console.note(
                "thumbnail-server: \(listening.connections) connections at most, not "
                    + "\(options.listening.connections): the system's limit of open files is too low")
        }
        let server = try RunningServer(options.stack, listening)
        if let problem = options.makeCacheFolder() { Console.note("thumbnail-server: \(problem)") }
        let host = options.listening.host
        Console.output("listening on http://\(host.contains(":") ? "[\(host)]" : host):\(server.port)\n")
        for await _ in signals { break }
        await server.stop(grace: options.grace)
        withExtendedLifetime(interruption) {}
    }
}
