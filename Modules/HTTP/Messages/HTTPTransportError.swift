public import AlcedoRuntime

/// Why an exchange with a server failed.
public struct HTTPTransportError: CodedError {
    /// What kind of failure it is.
    public enum Code: String, Sendable {
        /// The URL, a header field or the body cannot be sent.
        case invalidRequest
        /// This machine has no network: no interface but the loopback has an address, or no route leads out.
        case offline
        /// There is a network, but it is not for this: it is metered, low on data or abroad, and the system or a transport
        /// of the app's spares it. A smaller content may be had elsewhere.
        case dataNotAllowed
        /// The host's name has no address, or nobody answers for it.
        case cannotResolveHost
        /// The server was found, and no connection came about.
        case cannotConnect
        /// The server was found, at addresses that the transport must not connect to.
        case addressRefused
        /// TLS failed: the server's certificate is for another name, out of date, of an unknown authority or not the
        /// pinned one, or there is no TLS. The message says which.
        case secureConnectionFailed
        /// One of the request's timeouts; the message says which.
        case timedOut
        /// The connection ended, or the body was shorter than the head declared.
        case connectionLost
        /// The answer is not HTTP.
        case invalidResponse
        /// A redirect cannot be followed: its target is not on the web, there are too many, or the app rejects it.
        case badRedirect
        /// The body is larger than the caller allows, or unpacks to more than the transport allows.
        case bodyTooLarge
        /// Nothing is stored for a request that must not go to the network.
        case notCached
        /// The transport has been shut down.
        case shutDown
        /// Anything else; the message says what.
        case failed
    }

    /// What callers branch on.
    public var code: Code
    /// One sentence, from the transport's library where it has one.
    package var message: String
    /// The times and sizes of the exchange until it failed; nil where the transport does not measure. Two errors are equal
    /// whatever their metrics.
    public var metrics: HTTPTransferMetrics?

    /// An error of a transport's own.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
