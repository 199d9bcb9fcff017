public import AlcedoCore
public import AlcedoHTTP
public import AlcedoRuntime

/// An error of a download. Two errors are equal if their codes and messages are equal.
public struct DownloadError: CodedError {
    /// The kind of a failure.
    public enum Code: Sendable, Hashable {
        /// The server responded with a status that the configuration does not accept. ``DownloadError/head`` is the
        /// head of the response.
        case status(Int)
        /// The server responded with status 304: the content still equals the version that the request names.
        case notModified
        /// The content is empty.
        case empty
        /// The content is larger than a limit of the configuration or of the transport.
        case tooLarge
        /// The content has another format than expected, such as a web page instead of an image.
        case unexpectedContent
        /// A redirect could not be followed. Either there were too many redirects, or the target was missing or was not
        /// an `http` or `https` URL, or the configuration's hook refused the redirect.
        case badRedirect
        /// A closure of the configuration declined the request or the response.
        case declined
        /// A closure of the configuration, or a transport of the app, threw an error of its own;
        /// ``DownloadError/cause`` is that error.
        case hook
        /// The source is an invalid `data:` URL, has an invalid path, or is a decoded image, which has no encoded
        /// bytes.
        case invalidSource
        /// The URL has no scheme, has a scheme that the downloader does not support, or names a file on another
        /// machine.
        case unsupportedURL
        /// The file is missing or cannot be read.
        case unreadableFile
        /// The target file cannot be written.
        case unwritableFile
        /// The exchange with the server failed. ``DownloadError/cause`` is an `HTTPTransportError`; it is nil if the
        /// server sent a part of the content that was not requested.
        case transport(HTTPTransportError.Code)
        /// The downloader has been shut down.
        case shutDown
        /// The closure of a provider source failed; ``DownloadError/cause`` is its error.
        case provider
    }

    /// The kind of the failure, for callers to switch over.
    public var code: Code
    /// A one-sentence description for logs.
    package var message: String
    /// The underlying error of a transport or a closure; nil if there is none.
    public var cause: (any Error)?
    /// The head of the response that caused the error; nil if there is none.
    public var head: HTTPResponseHead?
    /// The origin of a response whose content was rejected; nil for all other errors.
    public private(set) var rejectedSource: ResponseSource?
    /// Whether the error is that of a further attempt, which was made for another request than the first one. Default:
    /// false.
    var isOfRenewedRequest = false
    /// The URL of the request; nil for a source that is not a URL, and for an error that no request caused.
    private var url: String?

    /// The message, with the URL of the request.
    public var description: String { message.naming(url) }

    /// Creates an error. By default, it has neither an underlying error nor a response head.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil, head: HTTPResponseHead? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
        self.head = head
    }
}

extension DownloadError: HTTPResponseError {
    init(_ error: HTTPTransportError) {
        let code: Code = error.code == .bodyTooLarge ? .tooLarge : .transport(error.code)
        self.init(code, error.message, cause: error)
    }

    /// Returns the error of a download from a source. The first source is kept. Other errors are returned unchanged.
    static func naming(_ source: ImageSource, _ error: any Error) -> any Error {
        // A closure of the app may throw any error, and a canceled download throws CancellationError.
        guard var error = error as? DownloadError else { return error }
        error.url = error.url ?? source.shownURL
        return error
    }

    /// Returns the error as one about the content of a response.
    func rejecting(_ caching: ResponseCaching?) -> DownloadError {
        var error = self
        error.rejectedSource = caching?.source ?? .new
        return error
    }
}
