public import AlcedoRuntime

/// An error of an exchange with a server.
public struct HTTPTransportError: CodedError {
    /// The kind of a failure.
    public enum Code: String, Sendable {
        /// The URL, the method, a header field or the body cannot be sent.
        case invalidRequest
        /// The machine has no network: no interface except the loopback has an address, or there is no route.
        case offline
        /// The system or the app's transport does not allow the request on the current network, which is metered, in
        /// low-data mode or roaming. The app can request a smaller version of the content instead.
        case dataNotAllowed
        /// The host name has no address, or no name server responded.
        case cannotResolveHost
        /// The host was resolved, but no connection could be established.
        case cannotConnect
        /// No connection to the proxy could be established, or its host name has no address.
        case cannotConnectToProxy
        /// The proxy did not open a connection to the server. The message contains its status, such as 407 if it
        /// requires a user and a password.
        case proxyRefused
        /// No connection could be opened, because the process or the system has no free file descriptor.
        case outOfDescriptors
        /// The host was resolved to addresses to which the transport must not connect.
        case addressRefused
        /// TLS failed: the server does not support it, or its certificate has another name, is expired, comes from an
        /// unknown authority or is not the pinned one. The message states the cause.
        case secureConnectionFailed
        /// A timeout of the request or of the downloader expired. The message states which one.
        case timedOut
        /// The connection was closed before the response was complete, or the body was shorter than the head declared.
        case connectionLost
        /// The response is not valid HTTP.
        case invalidResponse
        /// A redirect cannot be followed: the target is not an HTTP URL, there are too many redirects, or the app
        /// rejects it.
        case badRedirect
        /// The body exceeds the caller's limit, or the transport's limit for decoded or unread bytes.
        case bodyTooLarge
        /// No response is stored for a request with the cache policy `returnCacheDataDontLoad`.
        case notCached
        /// The transport has been shut down.
        case shutDown
        /// Another failure. The message states the cause.
        case failed
    }

    /// The kind of the failure, for callers to switch on.
    public var code: Code
    /// One sentence about the failure, from the transport's library if it provides one.
    package var message: String
    /// The times and sizes of the exchange until it failed; nil if the transport does not measure. They are ignored
    /// when errors are compared.
    public var metrics: HTTPTransferMetrics?

    /// Creates an error of a transport.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
