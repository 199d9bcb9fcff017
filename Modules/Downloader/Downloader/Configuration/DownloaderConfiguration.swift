public import AlcedoCore
public import AlcedoHTTP
import AlcedoRuntime
public import FoundationEssentials

/// The settings of a downloader: limits, timeouts, hooks and retries.
///
/// ```swift
/// import AlcedoCore
/// import AlcedoDownloader
///
/// var configuration = DownloaderConfiguration(maxConcurrentDownloads: 8)
/// configuration.retry = RetryPolicy(maximumAttempts: 3)
/// configuration.totalTimeout = .seconds(60)
/// ```
///
/// Closures may be called from any task and concurrently. An error that a closure throws becomes a ``DownloadError``
/// with the code `hook` and that error as its cause. A ``DownloadError`` or `CancellationError` is passed on unchanged.
///
/// Apart from ``maximumByteCount``, ``progressInterval`` and ``taskExecutor``, the settings apply only to downloads
/// from servers.
public struct DownloaderConfiguration: Sendable {
    // MARK: Scheduling

    /// The maximum number of concurrent transfers from servers. Default: 6.
    public var maxConcurrentDownloads: Int
    /// The maximum number of concurrent transfers from one scheme, host and port. Default: no separate limit.
    public var maxConcurrentDownloadsPerHost: Int
    /// The order in which waiting downloads with equal priority begin. Default: the oldest request first.
    public var order: QueueOrder
    /// The maximum rate at which transfers begin. Default: nil, a transfer begins as soon as a slot is free.
    public var rate: DownloadRate?
    /// The executor for the tasks of the downloader and for its file access. Tests can use the `ManualExecutor` of
    /// `AlcedoTesting`. Default: nil, tasks run on Swift's default executor and file access on threads of the
    /// downloader.
    public var taskExecutor: (any TaskExecutor)?

    // MARK: Limits

    /// The maximum number of bytes of the content of one download. The limit applies to the declared and the received
    /// length, and to the result of ``transform``. Larger content fails with `tooLarge`. Default: 128 MiB.
    public var maximumByteCount: Int
    /// The maximum number of consecutive redirects; a further one fails with `badRedirect`. Default: 20.
    public var maximumRedirectCount: Int
    /// The maximum time without a byte from the server, for requests that do not set `HTTPRequest.idleTimeout`. The
    /// transport enforces the limit. An attempt that exceeds it fails with `transport(.timedOut)`. Zero or less means
    /// the default. Default: 15 seconds.
    public var idleTimeout = HTTPRequest.defaultIdleTimeout
    /// The maximum time from sending a request until the head of its final response arrives, including redirects. After
    /// that time, the attempt fails with `transport(.timedOut)`. Nil, zero or less is no limit. Default: nil.
    public var firstByteTimeout: Duration?
    /// The maximum time for the whole download, including retries, pauses, waits for the network and alternatives. The
    /// time starts after the transfer has got its first slot. When it has passed, the download fails with
    /// `transport(.timedOut)`. Nil, zero or less is no limit. Default: nil.
    public var totalTimeout: Duration?
    /// The minimum time between two progress reports. The first and the last one are always delivered. Default: 50 ms.
    public var progressInterval = Duration.milliseconds(50)

    // MARK: Requests

    /// The header fields that are added to requests that do not have them. A request overrides a field by setting it
    /// itself. With an empty value, the downloader adds no fields.
    ///
    /// The fields are added when a request is sent: ``modifyRequest`` and ``failureCache`` do not see them;
    /// ``redirectHook`` and a response cache below the downloader do. Default: `User-Agent` with this package's name
    /// and version, and an `Accept` that prefers any image to other types. In `Downloader.standard`, `Accept` names the
    /// formats that can be decoded.
    public var defaultFields: HTTPFields = ["User-Agent": "Alcedo/\(AlcedoVersion.text)", "Accept": Self.anyImage]
    /// A closure that changes a request before the request is compared with others and sent, for example adds the
    /// token of the user. If the closure returns nil, the download fails with `declined`. Default: nil.
    ///
    /// ```swift
    /// var downloads = DownloaderConfiguration()
    /// downloads.modifyRequest = { request in
    ///     var request = request
    ///     request.fields["Authorization"] = try await session.authorization()
    ///     return request
    /// }
    /// ```
    ///
    /// The closure runs again before each further attempt of a download, because a token may expire during the pause.
    ///
    /// A pipeline calls it before it looks in its caches, once for each load. Requests with an
    /// ``/AlcedoCore/ImageRequest/additionalIdentifier``, such as the account, call it for a download only: their
    /// caches stay warm when the token changes.
    public var modifyRequest: (@Sendable (_ request: HTTPRequest) async throws -> HTTPRequest?)?
    /// A closure that receives the head of a redirect and the next request, and returns the request to send. The next
    /// request has no credentials if its origin differs. If the closure returns nil, or a request whose URL is neither
    /// `http` nor `https`, the download fails with `badRedirect`. Default: nil, every redirect within `http` and
    /// `https` is followed.
    ///
    /// A pipeline keeps no response to a request to which the closure adds other credentials than those of the first
    /// request.
    public var redirectHook: (@Sendable (_ head: HTTPResponseHead, _ next: HTTPRequest) async throws -> HTTPRequest?)?
    /// A closure that returns alternative requests for the same content. They are tried in order after the first
    /// request has failed, unless that request was canceled or failed with `declined` or `notModified`.
    /// ``modifyRequest`` is applied before each attempt of an alternative. When an alternative fails with a
    /// ``DownloadError``, the next one is tried; a cancellation ends the download. If all fail, the download fails with
    /// the error of the first request. Default: nil.
    ///
    /// A pipeline stores the content under the URL of the first request. For other images than that one, such as a
    /// smaller one, use ``/AlcedoCore/ImageRequest/alternativeSources``.
    public var alternatives: (@Sendable (_ request: HTTPRequest) -> [HTTPRequest])?

    // MARK: Responses

    /// A closure that returns whether a final status is accepted. If it returns false, the attempt fails with `status`.
    /// Status 304 is always the error `notModified`, and a redirect without a `Location` is always the error
    /// `badRedirect`. Default: 200 to 399.
    public var acceptsStatus: @Sendable (_ status: Int) -> Bool = { (200..<400).contains($0) }
    /// A closure that changes the head of a final response before its status is checked. The result of the download has
    /// the changed head. If it returns nil, the download fails with `declined`. Default: nil.
    public var modifyResponse: (@Sendable (_ head: HTTPResponseHead) async throws -> HTTPResponseHead?)?
    /// A closure that converts the whole content, for example decrypts it. An empty result fails with `empty`. Without
    /// a ``taskExecutor``, the closure runs on a thread of the downloader and may block. Default: nil.
    public var transform: (@Sendable (_ content: Data, _ head: HTTPResponseHead) throws -> Data)?
    /// A closure that returns whether the content has an expected format, judged by its first bytes. If it returns
    /// false, the download fails with `unexpectedContent`.
    ///
    /// The closure receives the first 64 bytes, as many as codecs need to recognize a format, or the whole content if
    /// that is shorter. With a ``transform``, these are bytes of its result. The closure must not block.
    /// `CodecRegistry.standard.recognizes` accepts the formats of that registry. Default: nil, all content is accepted.
    public var acceptsContent: (@Sendable (_ beginning: Data) -> Bool)?

    // MARK: Failures

    /// The retry policy of requests that have none of their own. Default: never retry.
    public var retry = RetryPolicy.never
    /// The limit on the retries of all downloads together, in addition to ``/AlcedoCore/RetryPolicy/maximumAttempts``
    /// of each: when most requests fail, the budget is used up, and a download is then retried only once. Copies of
    /// this configuration share it. With nil, only the policies limit retries. Default: a budget with default values
    /// for each new configuration, 20 retries at once, then one a second and one for every five downloads.
    public var retryBudget: RetryBudget? = RetryBudget()
    /// The monitor by which retries wait for the network, if their policy has a
    /// ``/AlcedoCore/RetryPolicy/maximumNetworkWait``. Default: a monitor of the system's routes.
    public var networkMonitor: any NetworkMonitoring = SystemNetworkMonitor()
    /// The cache of permanent failures. Copies of this configuration share it. Default: nil.
    public var failureCache: FailureCache?
    /// The policy for resuming interrupted transfers; nil always starts again from the first byte. Default: a retry
    /// resumes where the previous attempt was interrupted, and nothing is kept after the download has ended.
    public var resume: ResumePolicy? = ResumePolicy()

    /// Creates a configuration. By default, at most 6 transfers run at the same time, a download has at most 128 MiB,
    /// and at most 20 consecutive redirects are followed. Limits of concurrent transfers below 1 count as 1, and other
    /// limits below 0 count as 0.
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

    /// The value of `Accept` when the formats that can be decoded are unknown. It prefers any image to other types.
    private static let anyImage = CodecRegistry([]).acceptFieldValue

    /// Returns a copy of the request with the default fields and the default idle timeout. Values that the request sets
    /// itself are kept.
    func addingDefaultFields(to request: HTTPRequest) -> HTTPRequest {
        var filled = request
        if filled.audience == nil { filled.audience = HTTPRequest.Audience(of: request, identifier: nil) }
        for field in defaultFields where request.fields[field.name] == nil {
            filled.fields.append(field.name, field.value)
        }
        if request.ownIdleTimeout == nil { filled.idleTimeout = idleTimeout }
        return filled
    }

    /// Checks the first bytes of the content with ``acceptsContent``.
    ///
    /// - Throws: ``DownloadError`` `unexpectedContent` if that closure returns false.
    func checkContent(_ beginning: Data, head: HTTPResponseHead) throws(DownloadError) {
        guard let acceptsContent, !acceptsContent(Data(beginning.prefix(CodecRegistry.sniffedByteCount))) else {
            return
        }
        let type = head.fields["Content-Type"].map { " (Content-Type: \($0.excerpt))" } ?? ""
        throw DownloadError(
            .unexpectedContent, "the content of \(head.url.shown) is not accepted\(type)", head: head)
    }
}

/// The order in which waiting downloads with equal priority begin.
public enum QueueOrder: Sendable, Hashable {
    /// The oldest request first.
    case firstInFirstOut
    /// The newest request first. This suits a list that scrolls, whose older requests are out of sight.
    case lastInFirstOut
}

/// A limit on the rate at which transfers begin.
///
/// ```swift
/// var downloads = DownloaderConfiguration()
/// downloads.rate = DownloadRate(perSecond: 80, burst: 25)
/// ```
public struct DownloadRate: Sendable, Hashable {
    /// The maximum average number of transfers that begin in a second. With zero or less, no transfer begins after the
    /// first burst.
    public var perSecond: Double
    /// The maximum number of transfers that begin at once after an idle period. Values below 1 count as 1.
    public var burst: Int

    /// Creates a rate. The parameters are the properties of the same names.
    public init(perSecond: Double, burst: Int) {
        self.perSecond = perSecond
        self.burst = burst
    }
}

extension CodecRegistry {
    /// Returns whether data that begins with these bytes has a format of the registry. The first 64 bytes of the data
    /// suffice.
    public func recognizes(_ beginning: Data) -> Bool { entry(for: beginning) != nil }
}
