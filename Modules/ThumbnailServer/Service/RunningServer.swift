/// A server that listens, and what is behind it.
struct RunningServer: Sendable {
    private let stack: ServerStack
    private let server: HTTPServer

    /// - Throws: `HTTPServer.CannotListen`.
    init(_ settings: ServerStack.Settings, _ listening: HTTPServer.Settings) throws {
        stack = ServerStack(settings)
        server = try HTTPServer(listening, handler: stack.service)
    }

    var port: Int { server.port }

    /// Whether nothing has been begun for a request but the wait for a place.
    func isQueued(_ head: RequestHead) -> Bool { stack.service.isQueued(head) }

    /// The number of requests that wait for the thumbnail of this one.
    func waiterCount(for head: RequestHead) -> Int { stack.service.waiterCount(for: head) }

    /// Takes nothing more, lets what runs end, up to the grace, and writes what belongs in stores. To be called once.
    ///
    /// - Parameter storeTimeout: How long that writing may take, because a disk, or Redis, may hang; nil: what is left of the
    ///   grace, and a second in any case.
    func stop(grace: Duration, storeTimeout: Duration? = nil) async {
        let start = ContinuousClock.now
        stack.service.beginStopping()
        await server.stop(grace: grace)
        let rest = max(.seconds(1), grace - (ContinuousClock.now - start))
        await TimeLimit.wait(for: storeTimeout ?? rest) { [stack] in await stack.shutDown() }
    }
}

/// Work that is waited for only so long.
enum TimeLimit {
    /// Returns when the work has ended, or the limit is over; the work goes on then, and nobody hears of it.
    static func wait(for limit: Duration, _ operation: @escaping @Sendable () async -> Void) async {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        Task {
            await operation()
            end.finish()
        }
        let alarm = Task {
            try? await Task.sleep(for: limit)
            end.finish()
        }
        for await _ in ends {}
        alarm.cancel()
    }
}
