import AlcedoCore
public import AlcedoHTTP
import AlcedoRuntime

/// A transport that sends HTTP requests with libcurl's multi interface, on one thread of its own.
///
/// ```swift
/// import AlcedoCURL
/// import AlcedoDownloader
///
/// var options = CURLOptions()
/// options.maxConcurrentTransfersPerHost = 8
/// options.allowsPrivateAddresses = false
/// let downloader = Downloader(transport: CURLTransport(options: options))
/// ```
///
/// - **Connections.** Connections are kept open and reused. HTTP/2 is used if a TLS server offers it, with many
///   requests on one connection. Only `http` and `https` are supported. The proxy is taken from the environment unless
///   ``CURLOptions/proxy`` is set.
/// - **Memory.** When a reader is slow, the transport stops reading from the socket, so memory use does not depend on
///   the size of the body. Under HTTP/2, other transfers on the connection continue, and libcurl (7.88) lets a server
///   send 32 MiB ahead on each stream; that many bytes may be buffered for each slow reader. ``CURLVersion/http1``
///   avoids this.
/// - **Cookies.** Cookies are neither stored nor sent unless ``CURLOptions/keepsCookies`` is set.
/// - **Requests.** Any token is a valid method. Fields are sent in their order, and repeated names as repeated lines.
///   Values are sent in ISO-8859-1: the code points U+0080 to U+00FF are one byte each, and a value with another code
///   point fails with `invalidRequest`, as does a HEAD request with a body. `Host`, `Accept: */*`, `Accept-Encoding`
///   and `Content-Length` are added if they are missing, and `Expect` before a large body. When a reused connection
///   ends before the first byte of a response, the request is sent once more if its method is idempotent (RFC 9110
///   section 9.2.2), and never otherwise.
/// - **Content codings.** The transport requests and decodes gzip, deflate, br and zstd, as far as the installed
///   libcurl supports them. The response's fields stay unchanged. An unknown coding fails with `invalidResponse`. A
///   body with more decoded bytes than ``CURLOptions/decodedByteLimit`` fails with `bodyTooLarge`. While the reader of
///   a body is slow, libcurl buffers the decoded bytes of one read from the socket: up to 64 MiB, and more fail with
///   `bodyTooLarge`.
///
///     A server may truncate an encoded body so that it still matches its length or its chunks. The body is then
///     accepted, because libcurl does not report the missing end. The reader must detect it in the content.
///
///     If a request has its own `Accept-Encoding` or `Range`, or ``CURLOptions/decodesContent`` is off, the transport
///     adds no `Accept-Encoding` and returns the body undecoded.
/// - **Responses.** Any status from 200 to 999 is returned. ``/AlcedoHTTP/HTTPResponse/interim`` has the first 16
///   interim responses; 101 counts as final. Trailers are dropped. The following fail with `invalidResponse`: heads and
///   trailers of more than 256 KiB together; a `Content-Length` that is not a number, is too large, or is repeated with
///   different values (RFC 9112 section 6.3); an unknown transfer coding. A `Content-Length` next to a
///   `Transfer-Encoding` is removed. ``/AlcedoHTTP/HTTPResponse/metrics`` has all values.
/// - **Errors.** Errors are ``/AlcedoHTTP/HTTPTransportError``. A transfer that receives no byte for the request's idle
///   timeout fails with `timedOut`; the time does not count while its reader is slow. A body that ends before its
///   declared length fails with `connectionLost`. If libcurl cannot be started because the process has no memory or
///   file descriptor left, requests fail with `failed`, and the next request tries again.
public final class CURLTransport: HTTPTransport {
    private let thread: CURLThread
    private let settings: CURLSettings

    /// Creates a transport with its own connections. It opens none before the first request.
    public init(options: CURLOptions = CURLOptions()) {
        settings = CURLSettings(options)
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
                    // A cancellation that came before the continuation was stored had nothing to resume.
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

/// An owner of the loop's thread. The loop runs from the first request until the transport and all exchanges have
/// released this object.
private final class CURLThread: Sendable {
    private let mailbox = CURLMailbox()
    private let settings: CURLSettings

    init(_ settings: CURLSettings) { self.settings = settings }

    /// Passes a command to the loop, which the first request starts. A process that only loads files therefore never
    /// starts libcurl. If the loop cannot be created, for example without file descriptors, the waiting requests fail
    /// and the next request tries again.
    func post(_ command: CURLMailbox.Command) {
        guard mailbox.post(command) else { return }
        LoopThread.start { [mailbox, settings] in
            CURLLoop(mailbox: mailbox, settings).run()
        }
    }

    deinit { _ = mailbox.post(.stop) }
}
