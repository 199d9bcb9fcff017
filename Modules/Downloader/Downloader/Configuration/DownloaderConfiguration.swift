public import AlcedoCore
public import AlcedoHTTP
public import FoundationEssentials

/// The settings of a downloader: limits, timeouts, hooks, retries.
///
/// ```swift
/// import AlcedoCore
/// import AlcedoDownloader
///
/// var configuration = Downloader.Configuration(maxConcurrentDownloads: 8)
/// configuration.retry = RetryPolicy(maximumAttempts: 3)
/// configuration.totalTimeout = .seconds(60)
/// ```
///
/// Closures may be called from any task, several at once. A closure that throws makes the download fail with the code
/// `hook` and its error as the cause; a ``DownloadError`` and a `CancellationError` are passed on as they are.
public struct DownloaderConfiguration: Sendable {
    // MARK: Scheduling

    /// The maximum number of concurrent transfers. Default: 6.
    public var maxConcurrentDownloads: Int
    /// The maximum number of concurrent transfers from one scheme, host and port. Default: no limit of its own.
    public var maxConcurrentDownloadsPerHost: Int
    /// Which of the downloads with equal priority begins first. Default: the first.
    public var order: QueueOrder
    /// How often transfers may begin. Default: nil, as soon as a slot is free.
    public var rate: DownloadRate?
    /// Runs the tasks of the downloader, and its reading and writing of files in place of threads of its own: for tests,
    /// with the `ManualExecutor` of `AlcedoTesting`. Default: nil, Swift's own executor and threads of the downloader.
    public var taskExecutor: (any TaskExecutor)?

    // MARK: Limits

    /// The maximum number of bytes of one content, as declared and as received, before and after ``transform``.
    /// Default: 128 MiB.
    public var maximumByteCount: Int
    /// The maximum number of redirects in a row. Default: 20.
    public var maximumRedirectCount: Int
    /// The idle timeout of requests without one of their own: `HTTPRequest.idleTimeout`, which the transport obeys. Zero or
    /// less is the default. Default: 15 seconds.
    public var idleTimeout = HTTPRequest.defaultIdleTimeout
    /// The longest time from sending a request to the head of its last response, redirects included. Zero or less is no
    /// limit. Default: none.
    public var firstByteTimeout: Duration?
    /// The longest time for the whole download, its further attempts, pauses and other sources included. Zero or less is
    /// no limit. Default: none.
    public var totalTimeout: Duration?
    /// The shortest time between two reports of progress; the first and the last are always reported. Default: 50 ms.
    public var progressInterval = Duration.milliseconds(50)

    // MARK: Requests

    /// The fields of requests that do not have these themselves. They are added when a request is sent: ``modifyRequest``
    /// and ``failureCache`` do not see them; the redirect hook and a response cache below do. A request replaces a field by
    /// one of its own. Without any here, requests are sent as they are. Default: `User-Agent` with this package's name and
    /// version, and any image, then anything, as `Accept`, for which `Downloader.standard` names the formats that are decoded.
    public var defaultFields: HTTPFields = ["User-Agent": "Alcedo/\(AlcedoVersion.text)", "Accept": Self.anyImage]
    /// Changes a request before it is sent, and before it is compared with others; nil makes the download fail with
    /// `declined`. Default: none.
    public var modifyRequest: (@Sendable (_ request: HTTPRequest) async throws -> HTTPRequest?)?
    /// Receives the head of a redirect and the request that would be sent next, without credentials where the origin
    /// differs. Returns the request to send, or nil to refuse, which is the error `badRedirect`. Default: none; every
    /// redirect within `http` and `https` is followed.
    public var redirectHook: (@Sendable (_ head: HTTPResponseHead, _ next: HTTPRequest) async throws -> HTTPRequest?)?
    /// Returns other places that have the same content, tried in order when a request has failed; a cancellation ends the
    /// download, as do `declined` and `notModified` of the request itself: a place that ends so is skipped. Default: none.
    public var alternatives: (@Sendable (_ request: HTTPRequest) -> [HTTPRequest])?

    // MARK: Responses

    /// Whether a final status brings a content. 304 is the error `notModified` whatever this returns. Default: 200 to 399.
    public var acceptsStatus: @Sendable (_ status: Int) -> Bool = { (200..<400).contains($0) }
    /// Changes the head of a final response before it is looked at; nil makes the download fail with `declined`.
    /// Default: none.
    public var modifyResponse: (@Sendable (_ head: HTTPResponseHead) async throws -> HTTPResponseHead?)?
    /// Makes another content of the whole one, such as its plain text. May block: it runs on a thread that is for it.
    /// Default: none.
    public var transform: (@Sendable (_ content: Data, _ head: HTTPResponseHead) throws -> Data)?
    /// Whether the beginning of a content is that of an expected format, whatever its name and type say; if not, the
    /// download fails with `unexpectedContent`. Receives as many bytes as codecs are recognized by, or all when there are
    /// fewer, as they arrive or as ``transform`` makes them. Must not block. `CodecRegistry.standard.recognizes` accepts
    /// the formats of that registry. Default: none, every content is accepted.
    public var acceptsContent: (@Sendable (_ beginning: Data) -> Bool)?

    // MARK: Failures

    /// How failed requests without a policy of their own are repeated. Default: never.
    public var retry = RetryPolicy.never
    /// Bounds the retries of all downloads whose configuration is a copy of this one.
    public var retryBudget = RetryBudget()
    /// Remembers failures of all downloads whose configuration is a copy of this one. Default: none.
    public var failureCache: FailureCache?
    /// Default: a further attempt resumes where the one before was interrupted; nothing is kept when the download has ended.
    public var resume: ResumePolicy? = ResumePolicy()

    /// Creates a configuration: by default 6 transfers at once, of at most 128 MiB and 20 redirects each. No number of
    /// transfers is below 1.
    public init(
        maxConcurrentDownloads: Int = 6,
        maxConcurrentDownloadsPerHost: Int = .max,
        order: QueueOrder = .firstInFirstOut,
        rate: DownloadRate? = nil,
        maximumByteCount: Int = 128 << 20,
        maximumRedirectCount: Int = 20
    ) {
        self.maxConcurrentDownloads = max(1, maxConcurrentDownloads)
        self.maxConcurrentDownloadsPerHost = max(1, maxConcurrentDownloadsPerHost)
        self.order = order
        self.rate = rate
        self.maximumByteCount = max(0, maximumByteCount)
        self.maximumRedirectCount = max(0, maximumRedirectCount)
    }

    /// The `Accept` field of a client that decodes images of unknown formats: any image, then anything.
    private static let anyImage = CodecRegistry([]).acceptFieldValue

    /// The request as it is sent: with the default fields and the idle timeout where it has none of its own.
    func completed(_ request: HTTPRequest) -> HTTPRequest {
        var completed = request
        for field in defaultFields where request.fields[field.name] == nil {
            completed.fields.append(field.name, field.value)
        }
        if request.ownIdleTimeout == nil { completed.idleTimeout = idleTimeout }
        return completed
    }

    /// - Throws: ``DownloadError`` `unexpectedContent`.
    func checkContent(_ beginning: Data, head: HTTPResponseHead) throws(DownloadError) {
        guard let acceptsContent, !acceptsContent(Data(beginning.prefix(CodecRegistry.sniffedByteCount))) else {
            return
        }
        let type = head.fields["Content-Type"].map { ", which it calls \($0)" } ?? ""
        throw DownloadError(
            .unexpectedContent, "\(head.url.shown) gives something else than was expected\(type)", head: head)
    }
}

/// Which of the downloads with equal priority begins first.
public enum QueueOrder: Sendable, Hashable {
    /// In the order of the requests.
    case firstInFirstOut
    /// The latest request: for a list that is scrolled, in which the old is out of sight.
    case lastInFirstOut
}

/// How often transfers may begin.
public struct DownloadRate: Sendable, Hashable {
    /// On the average.
    package var perSecond: Double
    /// At once, after a rest.
    package var burst: Int

    /// Creates a rate.
    ///
    /// - Parameters:
    ///   - perSecond: The maximum number of beginnings in a second, on the average.
    ///   - burst: The maximum number of beginnings at once, after a rest.
    public init(perSecond: Double, burst: Int) {
        self.perSecond = perSecond
        self.burst = burst
    }
}

extension CodecRegistry {
    /// Whether a content that begins with these bytes is of a format of the registry. The first 64 bytes suffice.
    public func recognizes(_ beginning: Data) -> Bool { entry(for: beginning) != nil }
}
