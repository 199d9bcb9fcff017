import AlcedoCore
public import AlcedoHTTP
import AlcedoRuntime

/// Talks HTTP through libcurl's multi interface, on one thread of its own.
///
/// Connections are kept open and reused; HTTP/2 is spoken where a TLS server offers it, with many requests on one
/// connection. A reader that lags stops the reading from the socket, so memory stays flat whatever the body's size. Under
/// HTTP/2 the others on its connection go on, and libcurl (7.88) lets a server send 32 MiB ahead on each stream: that much
/// may be held for each reader that lags; ``CURLVersion/http1`` avoids it.
///
/// Cookies are neither kept nor sent unless ``CURLOptions/keepsCookies`` says so; only `http` and `https` are spoken; a
/// proxy is taken from the environment unless ``CURLOptions/proxy`` says otherwise.
///
/// - **Requests.** Any token is a method. Fields go out in their order, repeated names as repeated lines, values in
///   ISO-8859-1: the code points U+0080 to U+00FF are one byte each, and a value with any other is `invalidRequest`, as
///   is a body of a HEAD. What is added: `Host`, `Accept: */*`, `Accept-Encoding` and `Content-Length` where they are
///   not given, and `Expect` before a large body. What finds a connection that was used before, and which then ends
///   without a byte of an answer, is sent once more when the method is idempotent (RFC 9110 section 9.2.2), else never.
/// - **Content codings.** gzip, deflate, br and zstd are asked for and undone, as far as the installed libcurl can; the
///   answer's fields stay as they were sent, and a coding it does not know is `invalidResponse`. A body that unpacks to
///   more than ``CURLOptions/decodedByteLimit`` is `bodyTooLarge`. While its reader lags, libcurl holds what it has unpacked of
///   one read from the socket: up to 64 MiB, and more than that is `bodyTooLarge` too. A coded body that the server itself
///   has cut short, so that it is whole by its length or chunks, passes for whole: libcurl does not say that its end is
///   missing, and whoever reads must tell by the content. None of this holds for a request
///   with an `Accept-Encoding` or `Range` of its own, nor with ``CURLOptions/decodesContent`` off: nothing is asked for, and
///   the body is the bytes as they were sent.
/// - **Answers.** Any status from 200 to 999 is passed on. Interim answers are in ``/AlcedoHTTP/HTTPResponse/interim``, the first 16
///   of them; 101 counts as final. Trailers are dropped. Heads and trailers of more than 256 KiB together are
///   `invalidResponse`, as is a `Content-Length` that is no number, too large, or several that differ (RFC 9112 section
///   6.3), and a transfer coding that is not known; a length beside a `Transfer-Encoding` is left out of the fields.
///   ``/AlcedoHTTP/HTTPResponse/metrics`` has every part.
///
/// Errors are ``/AlcedoHTTP/HTTPTransportError``. A transfer that gets no byte for the request's idle timeout is `timedOut`, while
/// its reader does not lag; a body that ends before its declared length is `connectionLost`. Where the process has no
/// memory or no file descriptor left for libcurl, requests are `failed`, and the next one starts it again.
public final class CURLTransport: HTTPTransport {
    private let thread: CURLThread
    private let settings: CURLSettings

    /// A transport with connections of its own; none is opened before the first request.
    public init(options: CURLOptions = CURLOptions()) {
        settings = CURLSettings(options)
        thread = CURLThread(settings)
    }

    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let exchange = try exchange(for: request)
        let heads = try await heads(of: exchange)
        return HTTPResponse(
            head: heads.final, body: HTTPBody(exchange), interim: heads.interim, transfer: exchange.record)
    }

    /// Apart, so that what it takes to make one is not held while the answer is waited for.
    @inline(never)
    private func exchange(for request: HTTPRequest) throws(HTTPTransportError) -> CURLExchange {
        // The closures hold the thread: it lives while anyone reads the body.
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
                    // A cancellation before the continuation was in place found nobody to wake.
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

/// Runs the loop, from the first request on, for as long as somebody holds this object: the transport, or an exchange
/// that is under way.
private final class CURLThread: Sendable {
    private let mailbox = CURLMailbox()
    private let settings: CURLSettings

    init(_ settings: CURLSettings) { self.settings = settings }

    /// Hands a command to the loop. The first request begins it: who loads no more than files never starts libcurl. Where
    /// it cannot be made, such as without descriptors, the requests that wait fail, and the next one tries again.
    func post(_ command: CURLMailbox.Command) {
        guard mailbox.post(command) else { return }
        LoopThread.start { [mailbox, settings] in
            CURLLoop(mailbox: mailbox, settings).run()
        }
    }

    deinit { _ = mailbox.post(.stop) }
}
