import AlcedoCore
public import AlcedoHTTP

/// An error of a download.
public struct DownloadError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is.
    public enum Code: Sendable, Hashable {
        /// The server responded with a status that is not accepted; ``DownloadError/head`` is the response's.
        case status(Int)
        /// The content has not changed since the one that the request's own condition names (status 304).
        case notModified
        /// The content is empty.
        case empty
        /// The content is larger than the limit.
        case tooLarge
        /// The content is not what was requested, such as a web page instead of an image.
        case unexpectedContent
        /// More redirects than allowed, a redirect without a target, one that leaves the web or that the app refuses.
        case badRedirect
        /// A closure of the configuration declined the request or the response.
        case declined
        /// A closure of the configuration failed; ``DownloadError/cause`` is its error.
        case hook
        /// The `data:` URL or the path makes no sense, or the source has no bytes.
        case invalidSource
        /// The URL has a scheme that the downloader does not know, or names a file of another machine.
        case unsupportedURL
        /// The file is missing or cannot be read.
        case unreadableFile
        /// The file that the content was to go to cannot be written.
        case unwritableFile
        /// The exchange with the server failed; ``DownloadError/cause`` is an `HTTPTransportError`.
        case transport(HTTPTransportError.Code)
        /// The downloader has been shut down.
        case shutDown
        /// The app's own closure failed; ``DownloadError/cause`` is its error.
        case provider
    }

    /// What callers branch on.
    public var code: Code
    /// One sentence, for logs.
    package var message: String
    /// The error of a transport or of a closure, where one is why.
    public var cause: (any Error)?
    /// The head of the response, where the response is why.
    public var head: HTTPResponseHead?

    /// An error; by default without a cause below it.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil, head: HTTPResponseHead? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
        self.head = head
    }

    public var description: String { message }
}

extension DownloadError {
    init(_ error: HTTPTransportError) {
        let code: Code = error.code == .bodyTooLarge ? .tooLarge : .transport(error.code)
        self.init(code, error.message, cause: error)
    }
}
