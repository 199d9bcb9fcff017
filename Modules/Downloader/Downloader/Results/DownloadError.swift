import AlcedoCore
public import AlcedoHTTP

/// Why a source gave no bytes.
public struct DownloadError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is.
    public enum Code: Sendable, Hashable {
        /// The server answered with a status that is not accepted; ``DownloadError/head`` is the answer's.
        case status(Int)
        /// The content has not changed since the one that the request's own condition names (status 304).
        case notModified
        /// There is nothing in the answer.
        case empty
        /// The content is larger than the limit.
        case tooLarge
        /// What has arrived is not what was asked for, such as a web page instead of a picture.
        case unexpectedContent
        /// More redirects than allowed, a redirect without a target, one that leaves the web or that the app refuses.
        case badRedirect
        /// A closure of the app's did not want the request sent, or the answer read.
        case declined
        /// A closure of the app's that looks after requests and answers failed; ``DownloadError/cause`` is its error.
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
    public var message: String
    /// The error of a transport or of a closure, where one is why.
    public var cause: (any Error)?
    /// The head of the answer, where the answer is why.
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
