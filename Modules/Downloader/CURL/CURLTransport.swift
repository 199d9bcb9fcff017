public import AlcedoCore

/// Talks HTTP through libcurl's multi interface, on one thread of its own.
///
/// Connections are kept open and reused; HTTP/2 is spoken where a TLS server offers it; gzip, deflate, br and zstd are
/// undone on the way, as far as the installed libcurl can. A reader that lags stops the reading from the socket, so
/// memory stays flat whatever the body's size. Cookies are neither kept nor sent; only `http` and `https` are spoken;
/// a proxy is taken from the environment, as curl's manual describes.
///
/// Errors are ``HTTPTransportError``. A transfer that gets no byte for the request's idle timeout is `timedOut`; a
/// body that ends before its declared length is `connectionLost`.
public final class CURLTransport: HTTPTransport {
    private let thread: CURLThread

    /// - Parameters:
    ///   - connections: Most connections, and transfers, at once; more requests wait in the order they came.
    ///     Default: 64.
    ///   - connectionsPerHost: Most connections to one host. Default: 16.
    public init(connections: Int = 64, connectionsPerHost: Int = 16) {
        thread = CURLThread(connections: max(1, connections), connectionsPerHost: max(1, connectionsPerHost))
    }

    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        // The closures hold the thread: it lives while anyone reads the body.
        let exchange = CURLExchange(
            try CURLRequest(request),
            onSpace: { [thread] in thread.post(.resume($0.id)) },
            onCancel: { [thread] in thread.post(.cancel($0)) })
        let head = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                exchange.expectHead(continuation)
                thread.post(.start(exchange))
                // A cancellation before the continuation was in place found nobody to wake.
                if Task.isCancelled { exchange.body.cancel() }
            }
        } onCancel: {
            exchange.body.cancel()
        }
        return HTTPResponse(head: head, body: HTTPBody(exchange.body))
    }
}
