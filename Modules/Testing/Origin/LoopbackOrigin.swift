import AlcedoCore
import AlcedoRuntime
public import FoundationEssentials

/// A small real HTTP/1.1 server on 127.0.0.1 and a free port, for tests, demos and benchmarks.
///
/// It keeps connections alive, answers what its handler says, faults included (``OriginReply``), and lets a test wait
/// for what happens instead of sleeping. One thread serves all connections; requests have bodies by Content-Length only.
/// It is no server for the open network.
///
/// ```swift
/// let origin = try LoopbackOrigin { request in
///     request.path == "/a.png" ? .ok(png, type: "image/png") : .status(404)
/// }
/// ```
public final class LoopbackOrigin: Sendable {
    /// The base, such as `http://127.0.0.1:40123`.
    package let url: URL
    /// The port it listens on, on 127.0.0.1.
    package let port: Int

    private let hub: OriginHub

    /// Starts to serve.
    ///
    /// - Parameter handler: Responds to a request. It is called on the origin's only thread, one request at a time, so it
    ///   must not block; to respond late, use ``OriginReply/stalling(at:)``.
    /// - Throws: An error if the system provides no socket.
    public convenience init(handler: @escaping @Sendable (OriginRequest) -> OriginReply) throws {
        try self.init(options: OriginOptions(), handler: handler)
    }

    /// Starts to serve within limits.
    package init(options: OriginOptions, handler: @escaping @Sendable (OriginRequest) -> OriginReply) throws {
        let alarm = try OriginAlarm()
        hub = OriginHub(alarm: alarm, options: options, handler: handler)
        do {
            let (listener, port) = try OriginSocket.listen()
            _ = hub.open(listener)
            guard let url = URL(string: "http://127.0.0.1:\(port)") else {
                hub.close(listener)
                throw OriginError(message: "no URL for port \(port)")
            }
            (self.url, self.port) = (url, Int(port))
            LoopThread.start { [hub] in
                var loop = OriginLoop(hub: hub, listener: listener, alarm: alarm)
                loop.run()
            }
        } catch {
            hub.threadEnded()
            throw error
        }
    }

    deinit { hub.stop() }

    /// Ends every connection and refuses new ones, before it returns. Waits then throw `CancellationError`.
    public func stop() { hub.stop() }

    /// Lets the replies go on that are stalled or will be, of all requests that have arrived so far. Later requests
    /// stall again.
    public func release() { hub.release() }

    /// Returns the URL of a path.
    ///
    /// - Parameter path: A path, with its query, that begins with a slash. Default: the empty path, which gives the base, such
    ///   as `http://127.0.0.1:40123`.
    public func url(for path: String = "") -> URL {
        URL(string: url.absoluteString + path) ?? url.appending(path: path)
    }

    /// What has happened so far.
    package var state: OriginState { hub.state.value }

    /// The requests that have arrived, in order.
    public var requests: [OriginRequest] { state.requests }

    /// How often a path was asked for: with this query when it has one, else with any query or none.
    public func requestCount(for path: String) -> Int { state.requestCount(for: path) }

    /// Returns once the condition holds, now or later. It is tried after every change.
    ///
    /// - Throws: `CancellationError` when the task is cancelled or the origin stopped first.
    package func waitUntil(_ condition: @escaping @Sendable (OriginState) -> Bool) async throws {
        try await hub.state.waitUntil(condition)
    }

    /// Returns once `count` requests have arrived. Throws `CancellationError` when the task is cancelled or the
    /// origin is stopped first.
    public func waitForRequest(count: Int = 1) async throws {
        try await waitUntil { $0.requestCount >= count }
    }

    /// Returns once clients have ended `count` connections. A client that sends no more counts, unless a response is being sent
    /// to it: a half-closed connection gets the rest of that response first.
    ///
    /// Throws `CancellationError` when the task is cancelled or the origin is stopped first.
    public func waitForDisconnects(count: Int = 1) async throws {
        try await waitUntil { $0.disconnectCount >= count }
    }

    /// Returns once `count` replies wait for a release. Throws `CancellationError` when the task is cancelled or the
    /// origin is stopped first.
    public func waitForStalls(count: Int = 1) async throws {
        try await waitUntil { $0.stalledCount >= count }
    }
}
