public import AlcedoCore

/// Why a source gave no bytes.
public struct DownloadError: Error, Sendable, CustomStringConvertible {
    public enum Code: Sendable, Hashable {
        /// The server answered with a status outside 200 to 299.
        case status(Int)
        /// There is nothing in the answer.
        case empty
        /// The content is larger than the limit.
        case tooLarge
        /// More redirects than allowed, a redirect without a target, or one that leaves the web.
        case badRedirect
        /// The `data:` URL or the path makes no sense.
        case invalidSource
        /// The file is missing or cannot be read.
        case unreadableFile
        /// The exchange with the server failed; ``DownloadError/cause`` is an `HTTPTransportError`.
        case transport(HTTPTransportError.Code)
        /// The downloader has been shut down.
        case shutDown
        /// The app's own closure failed; ``DownloadError/cause`` is its error.
        case provider
    }

    public var code: Code
    public var message: String
    public var cause: (any Error)?

    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    public var description: String { message }
}
