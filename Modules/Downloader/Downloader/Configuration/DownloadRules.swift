public import AlcedoCore
public import AlcedoHTTP
public import FoundationEssentials

/// What is done with requests to servers and with their answers.
///
/// Closures may come to be called from any task, several at once. A closure that throws makes the download fail with
/// `hook`, its error being the cause; a `DownloadError` and a `CancellationError` stay as they are.
public struct DownloadRules: Sendable {
    /// Most bytes of one content, as declared and as they come, before and after ``transform``. Default: 128 MiB.
    public var maximumByteCount = 128 << 20
    /// The maximum number of redirects in a row. Default: 20.
    public var maximumRedirectCount = 20
    /// Receives the head of a redirect and the request that would be sent next, without credentials where the origin
    /// differs. Returns the request to send, or nil to refuse, which is the error `badRedirect`. Default: none; every
    /// redirect within `http` and `https` is followed.
    public var redirectHook: (@Sendable (_ head: HTTPResponseHead, _ next: HTTPRequest) async throws -> HTTPRequest?)?
    /// Which final statuses bring a content. 304 is the error `notModified` whatever this says. Default: 200 to 399.
    public var acceptsStatus: @Sendable (_ status: Int) -> Bool = { (200..<400).contains($0) }
    /// The idle timeout of requests that name none: `HTTPRequest.idleTimeout`, which the transport obeys. Zero or less is
    /// the default. Default: 15 seconds.
    public var idleTimeout = HTTPRequest.defaultIdleTimeout
    /// The longest time from sending a request to the head of its last response, redirects included. Zero or less is no
    /// limit. Default: none.
    public var firstByteTimeout: Duration?
    /// The longest time for the whole download, its further attempts, pauses and other sources included. Zero or less is
    /// no limit. Default: none.
    public var totalTimeout: Duration?
    /// Shortest time between two reports of progress; the first and the last come anyway. Default: 50 ms.
    public var progressInterval = Duration.milliseconds(50)

    /// The fields of requests that do not have these themselves. They are added when a request is sent: ``modifyRequest``
    /// and ``failureCache`` do not see them; the redirect hook and a response cache below do. A request replaces a field by
    /// one of its own. Without any here, requests are sent as they are. Default: `User-Agent` with this package's name and
    /// version, and any image, then anything, as `Accept`, for which `Downloader.standard` names the formats that are decoded.
    public var defaultFields: HTTPFields = ["User-Agent": "Alcedo/\(AlcedoVersion.text)", "Accept": Self.anyImage]

    /// The `Accept` field of who decodes images of unknown formats: any image, then anything.
    package static let anyImage = CodecRegistry([]).acceptFieldValue

    /// Changes a request before it is sent, and before it is compared with others; nil makes the download fail with
    /// `declined`. Default: none.
    public var modifyRequest: (@Sendable (_ request: HTTPRequest) async throws -> HTTPRequest?)?
    /// Changes the head of a final answer before it is looked at; nil makes the download fail with `declined`.
    /// Default: none.
    public var modifyResponse: (@Sendable (_ head: HTTPResponseHead) async throws -> HTTPResponseHead?)?
    /// Makes another content of the whole one, such as its plain text. May block: it runs on a thread that is for it.
    /// Default: none.
    public var transform: (@Sendable (_ content: Data, _ head: HTTPResponseHead) throws -> Data)?
    /// Looks at the beginning of the content, as it arrives or as ``transform`` makes it. Default: none.
    public var contentCheck: ContentCheck?

    /// How failed requests are repeated that name no policy of their own. Default: never.
    public var retry = RetryPolicy.never
    /// Bounds the retries of all downloads that have a copy of these rules.
    public var retryBudget = RetryBudget()
    /// Remembers failures of all downloads that have a copy of these rules. Default: none.
    public var failureCache: FailureCache?
    /// Default: a further attempt goes on where the one before broke off; nothing is kept when the download has ended.
    public var resume: ResumePolicy? = ResumePolicy()
    /// Other places that have the same content, tried in order when a request has failed; a cancellation ends the
    /// download, as do `declined` and `notModified` of the request itself: a place that ends so is passed over. Default:
    /// none.
    public var alternatives: (@Sendable (_ request: HTTPRequest) -> [HTTPRequest])?

    /// The defaults.
    public init() {}

    /// The request as it is sent: with the default fields and the idle timeout where it has none of its own.
    func completed(_ request: HTTPRequest) -> HTTPRequest {
        var completed = request
        for field in defaultFields where request.fields[field.name] == nil {
            completed.fields.append(field.name, field.value)
        }
        if request.ownIdleTimeout == nil { completed.idleTimeout = idleTimeout }
        return completed
    }
}
