package import AlcedoCore
public import AlcedoHTTP
import AlcedoRuntime

/// A transport that sends HTTP requests with libcurl's multi interface, on one thread of its own.
///
/// ```swift
/// import AlcedoCURL
/// import AlcedoDownloader
///
/// var options = CURLOptions()
/// options.connectTimeout = .seconds(5)
/// options.allowsPrivateAddresses = false
/// let downloader = Downloader(transport: CURLTransport(options: options))
/// ```
///
/// Only `http` and `https` are supported, with HTTP/2 if a TLS server offers it. Connections are kept open and reused.
/// When a reader is slow, the transport stops reading from the socket, so memory use does not depend on the size of the
/// body. The transport requests and decodes gzip, deflate, br and zstd, as far as libcurl's libraries for them are
/// installed.
///
/// A failure is an ``/AlcedoHTTP/HTTPTransportError``. If no byte arrives for the request's idle timeout, the transfer
/// fails with `timedOut`, and a body that ends before its declared length with `connectionLost`. The page of the module
/// describes requests, content codings, responses and errors in detail.
public final class CURLTransport: HTTPTransport {
    private let thread: CURLThread
    private let settings: CURLSettings

    /// Creates a transport with its own connections. It opens none before the first request.
    public convenience init(options: CURLOptions = CURLOptions()) {
        self.init(options: options, clock: SystemClock())
    }

    /// Creates a transport that deletes its cookies when the date of `clock` is set.
    package init(options: CURLOptions, clock: any TimeSource) {
        settings = CURLSettings(options, clock: clock)
        thread = CURLThread(settings)
    }

    /// Sends a request. Returns when the head of the final response has arrived.
    ///
    /// - Throws: ``/AlcedoHTTP/HTTPTransportError`` if the request is invalid or the exchange fails before the head has
    ///   arrived, or `CancellationError` if the task is canceled.
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let exchange = try exchange(for: request)
        let heads = try await heads(of: exchange)
        return HTTPResponse(
            head: heads.final, body: HTTPBody(exchange), interim: heads.interim, transfer: exchange.record)
    }

    /// Creates the exchange of a request. A separate function, so that its temporary values are not held while the
    /// response is awaited.
    @inline(never)
    private func exchange(for request: HTTPRequest) throws(HTTPTransportError) -> CURLExchange {
        // The closures keep the thread alive while a reader holds the body.
        CURLExchange(
            try CURLRequest(request, settings),
            onSpace: { [thread] in thread.post(.resume($0.id)) },
            onCancel: { [thread] in thread.post(.cancel($0)) })
    }

    private func heads(of exchange: CURLExchange) async throws -> ResponseHeads {
        do {
            defer { exchange.order.didResume() }
            return try await withTaskCancellationHandler {
                try await withUnsafeThrowingContinuation { continuation in
                    exchange.expectHead(continuation)
                    thread.post(.start(exchange))
                    // The task may have been canceled before. Canceling the exchange twice has no further effect.
                    if Task.isCancelled { exchange.cancel() }
                }
            } onCancel: {
                exchange.cancel()
            }
        } catch var error as HTTPTransportError {
            error.metrics = exchange.record.metrics
            throw error
        }
    }
}

/// The thread of the loop. It runs from the first request until the transport and all exchanges have released this
/// object.
private final class CURLThread: Sendable {
    private let mailbox = CURLMailbox()
    private let settings: CURLSettings

    init(_ settings: CURLSettings) { self.settings = settings }

    /// Passes a command to the loop, which the first request starts. A process that only loads files therefore never
    /// starts libcurl. If the loop cannot be created, for example without file descriptors, the requests in the mailbox
    /// fail, and the next request tries again.
    func post(_ command: CURLMailbox.Command) {
        guard mailbox.post(command) else { return }
        LoopThread.start { [mailbox, settings] in
            CURLLoop(mailbox: mailbox, settings).run()
        }
    }

    deinit { _ = mailbox.post(.stop) }
}
