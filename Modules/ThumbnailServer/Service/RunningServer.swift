import Alcedo
import AlcedoProgramSupport

/// A listening server with its pipeline and stores.
struct RunningServer: Sendable {
    private let stack: ServerStack
    private let server: HTTPServer
    private let clock: any TimeSource

    /// Starts to listen. By default, decoders run in the process of the server. The clock measures the times of the
    /// stack and of the server; by default, it is the system's clock.
    ///
    /// - Throws: `HTTPServer.CannotListen` if the server cannot listen on the address, or if no file descriptor is
    ///   available.
    init(
        _ settings: ServerStack.Settings, _ listening: HTTPServer.Settings, codecs: ServerCodecs = .unconfined,
        clock: any TimeSource = SystemClock()
    ) throws {
        self.clock = clock
        var settings = settings
        settings.service.maxConcurrentWaiters = listening.maxConcurrentConnections
        stack = ServerStack(settings, codecs: codecs, clock: clock)
        server = try HTTPServer(listening, handler: stack.service, clock: clock) {
            Console.notice("thumbnail-server: \($0)")
        }
    }

    var port: Int { server.port }

    /// Whether the thumbnail of a request waits for others: for their originals to be fetched, or for a thread or
    /// memory that they use.
    func isQueued(_ head: RequestHead) -> Bool { stack.service.isQueued(head) }

    /// Returns the number of requests that wait for the same thumbnail.
    func waiterCount(for head: RequestHead) -> Int { stack.service.waiterCount(for: head) }

    /// Stops accepting connections and generating further thumbnails, lets running requests end within `grace`, and
    /// writes pending thumbnails to the stores. Call this method once.
    ///
    /// - Parameters:
    ///   - grace: The maximum time that running requests may take.
    ///   - storeTimeout: The maximum time for writing to the stores, because a disk or Redis may hang. Default: the
    ///     rest of `grace`, but at least one second.
    func stop(grace: Duration, storeTimeout: Duration? = nil) async {
        let start = clock.uptime
        stack.service.beginStopping()
        await server.stop(grace: grace)
        let rest = max(.seconds(1), grace - (clock.uptime - start))
        await TimeLimit.wait(for: storeTimeout ?? rest, clock: clock) { [stack] in await stack.shutDown() }
    }
}

enum TimeLimit {
    /// Returns when the operation has ended or the limit has elapsed. After the limit, the operation continues without
    /// a waiter.
    static func wait(
        for limit: Duration, clock: any TimeSource = SystemClock(), _ operation: @escaping @Sendable () async -> Void
    ) async {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        Task {
            await operation()
            end.finish()
        }
        let alarm = Task {
            try? await clock.sleep(for: limit)
            end.finish()
        }
        for await _ in ends {}
        alarm.cancel()
    }
}
