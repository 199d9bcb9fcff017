import AlcedoCore
import AlcedoRuntime
public import FoundationEssentials

/// A small HTTP/1.1 server on a free port of 127.0.0.1, for tests, demos and benchmarks.
///
/// ```swift
/// import AlcedoTesting
///
/// let origin = try LoopbackOrigin { request in
///     request.path == "/hello" ? .status(204) : .status(404)
/// }
/// let url = origin.url(for: "/hello")
/// ```
///
/// The server keeps connections alive and sends the reply that its handler returns, including faults (``OriginReply``).
/// A test can wait for an event at the server instead of sleeping. One thread serves all connections, until ``stop()``
/// is called or the object is released. If the thread cannot poll its sockets, the server stops itself. Request bodies
/// require a Content-Length. The server is not meant for an open network.
public final class LoopbackOrigin: Sendable {
    /// The base URL, such as `http://127.0.0.1:40123`.
    package let url: URL
    /// The port on 127.0.0.1.
    package let port: Int

    private let hub: OriginHub

    /// Starts a server.
    ///
    /// - Parameter handler: A closure that returns the reply to a request. It is called on the origin's only thread,
    ///   one request at a time, so it must not block. To respond late, use ``OriginReply/stalling(at:)``.
    /// - Throws: An error if the system provides no socket, no free port or no pipe.
    public convenience init(handler: @escaping @Sendable (OriginRequest) -> OriginReply) throws {
        try self.init(options: OriginOptions(), handler: handler)
    }

    /// Starts a server with options. Throws the errors of ``init(handler:)``.
    package init(options: OriginOptions, handler: @escaping @Sendable (OriginRequest) -> OriginReply) throws {
        let alarm = try OriginAlarm()
        hub = OriginHub(alarm: alarm, options: options, handler: handler)
        do {
            let (listener, port) = try OriginSocket.listen(on: 0x7F00_0000 + UInt32(options.machine))
            _ = hub.open(listener)
            guard let url = URL(string: "http://127.0.0.\(options.machine):\(port)") else {
                hub.close(listener)
                throw OriginError(message: "cannot create a URL for port \(port)")
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

    /// Closes every connection and refuses new ones before it returns. Does not wait for calls of the handler. Pending
    /// waits, and later waits whose condition does not hold, throw `CancellationError`.
    public func stop() { hub.stop() }

    /// Resumes the stalled replies to all requests that have arrived so far. Later stalls of these replies do not wait
    /// either. Replies to later requests stall again.
    public func release() { hub.release() }

    /// Returns the URL of a path.
    ///
    /// - Parameter path: A path, with its query, that begins with a slash. Default: the empty path, which gives the
    ///   base URL, such as `http://127.0.0.1:40123`.
    public func url(for path: String = "") -> URL {
        URL(string: url.absoluteString + path) ?? url.appending(path: path)
    }

    /// The requests and counts so far.
    package var state: OriginState { hub.state.value }

    /// The requests that have arrived, in order, without those that the server rejects before it calls the handler. At
    /// most 20,000 requests are kept. Later ones are only counted.
    public var requests: [OriginRequest] { state.requests }

    /// Returns the number of requests for a path. A path with a query counts requests with that query only. A path
    /// without a query counts requests with any query or none. Only the first 20,000 different targets are counted.
    public func requestCount(for path: String) -> Int { state.requestCount(for: path) }

    /// Returns once the condition holds, now or later. The condition is evaluated after every change.
    ///
    /// - Throws: `CancellationError` when the call must wait and the task is canceled or the origin is stopped.
    package func waitUntil(_ condition: @escaping @Sendable (OriginState) -> Bool) async throws {
        try await hub.state.waitUntil(condition)
    }

    /// Returns once at least `count` requests, by default one, have arrived since the origin was created. Throws
    /// `CancellationError` when the call must wait and the task is canceled or the origin is stopped.
    public func waitForRequest(count: Int = 1) async throws {
        try await waitUntil { $0.requestCount >= count }
    }

    /// Returns once clients have closed at least `count` connections, by default one, since the origin was created.
    /// Connections that the origin closed first do not count.
    ///
    /// A half-closed connection, in which the client has ended only its own side, counts as well. If a response is
    /// being sent at that time, the connection counts only after the responses to all received requests have been sent,
    /// or at the next stall. It does not count if one of these responses closes the connection.
    ///
    /// Throws `CancellationError` when the call must wait and the task is canceled or the origin is stopped.
    public func waitForDisconnects(count: Int = 1) async throws {
        try await waitUntil { $0.disconnectCount >= count }
    }

    /// Returns once at least `count` replies, by default one, are stalled at the same time. Throws `CancellationError`
    /// when the call must wait and the task is canceled or the origin is stopped.
    public func waitForStalls(count: Int = 1) async throws {
        try await waitUntil { $0.stalledCount >= count }
    }
}
