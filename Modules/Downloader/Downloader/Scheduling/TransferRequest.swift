import AlcedoCore
import AlcedoHTTP

/// The parameters of a transfer. A class, so that they are passed on as one reference.
final class TransferRequest: Sendable {
    let source: ImageSource
    /// The path of the file to write; nil stores the content in memory.
    let path: String?
    /// Whether the bytes are delivered to waiters as they arrive. A transfer to a file delivers none.
    let deliversBytes: Bool
    /// A closure that is awaited before the transfer begins; nil begins it immediately.
    let admission: DownloadRequest.Admission?
    /// The version of the local file that the caller expects; nil if the caller does not track versions. It is not
    /// checked.
    let fileVersion: FileVersion?
    /// The retry policy; nil uses the configuration's.
    let retry: RetryPolicy?
    /// A closure that returns the request for a further attempt; nil sends the same request again.
    let renewal: (@Sendable () async throws -> HTTPRequest)?
    /// Whether other requests may join the transfer. False if a closure of the caller makes the further attempts,
    /// because nothing says that the others want what it selects.
    let isShareable: Bool
    /// Whether the transfer needs no slot.
    let skipsQueue: Bool

    init(
        source: ImageSource, path: String?, deliversBytes: Bool, admission: DownloadRequest.Admission? = nil,
        fileVersion: FileVersion? = nil, retry: RetryPolicy? = nil,
        renewal: (@Sendable () async throws -> HTTPRequest)? = nil, isShareable: Bool = true,
        skipsQueue: Bool = false
    ) {
        (self.source, self.path, self.deliversBytes, self.admission) = (source, path, deliversBytes, admission)
        (self.fileVersion, self.retry, self.renewal) = (fileVersion, retry, renewal)
        (self.isShareable, self.skipsQueue) = (isShareable, skipsQueue)
    }
}

/// The identity of a transfer: two downloads with equal keys share a transfer. The key of content from a server
/// consists of the whole HTTP request and the destination. The key of content from another source consists of the
/// source's identity, the file version and the destination. Two requests with a method that is not safe (RFC 9110
/// section 9.2.1), or of which one is not shareable, never have equal keys.
struct TransferKey: Hashable, Sendable {
    private let request: TransferRequest
    /// Computed once, because a key is hashed several times.
    private let digest: Int

    init(_ request: TransferRequest) {
        self.request = request
        var hasher = Hasher()
        if case .http(let http) = request.source {
            hasher.combine(http)
        } else {
            hasher.combine(request.source.resource)
            hasher.combine(request.fileVersion)
        }
        hasher.combine(request.path)
        digest = hasher.finalize()
    }

    static func == (a: Self, b: Self) -> Bool {
        if a.request === b.request { return true }
        guard a.digest == b.digest, a.request.isShareable, b.request.isShareable, a.request.path == b.request.path,
            a.request.fileVersion == b.request.fileVersion
        else { return false }
        // Two requests with an unsafe method must both reach the server.
        if case .http(let http) = a.request.source, !http.method.isSafe { return false }
        return a.request.source.identity == b.request.source.identity
    }

    func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}

/// The queue in which a transfer waits for its slot.
enum TransferQueue: Sendable {
    /// The queue of the transfers from one server.
    case server(String)
    /// The queue of local files, of which at most four are transferred at the same time.
    case files
    /// No queue: the transfer needs no slot.
    case unlimited

    init(_ transfer: TransferRequest) {
        guard !transfer.skipsQueue else {
            self = .unlimited
            return
        }
        switch transfer.source {
        case .http(let request): self = .server(request.url.origin)
        case .file: self = .files
        case .dataURL, .bytes, .provider, .image, .imageProvider, .url: self = .unlimited
        }
    }
}
