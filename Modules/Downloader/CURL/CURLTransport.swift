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
/// options.maxConcurrentTransfersPerHost = 8
/// options.allowsPrivateAddresses = false
/// let downloader = Downloader(transport: CURLTransport(options: options))
/// ```
///
/// - **Connections.** Connections are kept open and reused. ``CURLOptions/connectionLimit`` and
///   ``CURLOptions/maximumIdleTime`` limit this. A connection on which bytes have arrived while it was idle, or which
///   the server has closed, is not reused, so that these bytes are never part of another response. By default, HTTP/2
///   is used if a TLS server offers it, with many requests on one connection. Only `http` and `https` are supported.
///   The proxy is taken from the environment unless ``CURLOptions/proxy`` is set.
/// - **URLs.** A URL is sent as browsers send it (URL Standard of the WHATWG): dot segments are resolved, a lone
///   percent sign is escaped, and an international host name is converted to Punycode if the process has libidn2, which
///   libcurl loads on Debian and Ubuntu. Otherwise, a request to such a host fails with `invalidRequest`.
/// - **Memory.** When a reader is slow, the transport stops reading from the socket, so memory use does not depend on
///   the size of the body. Under HTTP/2, other transfers on the connection continue, and libcurl (7.88) lets a server
///   send 32 MiB ahead on each stream; that many bytes may be buffered for each slow reader. ``CURLVersion/http1``
///   avoids this.
/// - **Cookies.** Cookies are neither stored nor sent unless ``CURLOptions/keepsCookies`` is set.
/// - **Requests.** Any token is a valid method. Fields are sent in their order, and repeated names as repeated lines.
///   Values are sent in ISO-8859-1: the code points U+0080 to U+00FF are one byte each. A value with another code point
///   fails with `invalidRequest`, and so does a HEAD request with a body. The fields `Host`, `Accept: */*`,
///   `Accept-Encoding`, `Content-Length` and `Expect` are added where they apply and are missing. When a reused
///   connection ends before the first byte of a response, a request with an idempotent method (RFC 9110 section 9.2.2)
///   is sent once more, on a new connection. A request with another method fails with `connectionLost`.
/// - **Content codings.** The transport requests and decodes gzip, deflate, br and zstd, as far as libcurl's libraries
///   for them are installed. The response's fields stay unchanged. As in browsers, an unknown coding has no effect on
///   the body, and bytes behind the end of an encoded body are dropped. A damaged encoded body, and one with more than
///   four codings, fails with `invalidResponse`. A body with more decoded bytes than ``CURLOptions/decodedByteLimit``
///   fails with `bodyTooLarge`.
///
///     A server may send only the beginning of an encoded body, with a matching length or with complete chunks. The
///     transport accepts the body. The reader must detect the missing end in the content.
///
///     If a request has its own `Accept-Encoding` or `Range`, or ``CURLOptions/decodesContent`` is false, the transport
///     adds no `Accept-Encoding` and returns the body undecoded.
/// - **Responses.** The transport returns responses with the status 101 or a status from 200 to 999.
///   ``/AlcedoHTTP/HTTPResponse/interim`` has the first 16 interim responses. Trailers are dropped. The following fail
///   with `invalidResponse`: heads and trailers of more than 256 KiB together; a `Content-Length` that is not a number,
///   is too large, or is repeated with different values (RFC 9112 section 6.3); an unknown transfer coding. A
///   `Content-Length` next to a `Transfer-Encoding` is removed. ``/AlcedoHTTP/HTTPResponse/metrics`` has all values
///   that apply to the exchange.
/// - **Errors.** A failure is reported as ``/AlcedoHTTP/HTTPTransportError``. If no byte arrives for the request's idle
///   timeout, the transfer fails with `timedOut`. This time does not count while the reader is slow. A body that ends
///   before its declared length fails with `connectionLost`. Without a free file descriptor, requests fail with
///   `outOfDescriptors`, and without memory with `failed`; the next request tries again. If a proxy cannot be reached,
///   requests fail with `cannotConnectToProxy`. If it does not open a connection to the server, for example with status
///   407, they fail with `proxyRefused`.
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

/// An owner of the loop's thread. The loop runs from the first request until the transport and all exchanges have
/// released this owner.
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
