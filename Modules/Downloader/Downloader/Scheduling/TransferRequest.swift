import AlcedoCore
import AlcedoHTTP

/// What a transfer is to fetch, and where to. A class, so that it is handed on as one reference.
final class TransferRequest: Sendable {
    let source: ImageSource
    /// The file that the content goes to; nil for memory.
    let path: String?
    /// Whether the bytes are told as they come to memory.
    let deliversBytes: Bool
    /// What is awaited before it begins; nil: nothing.
    let admission: DownloadRequest.Admission?
    /// The version of a local file that is wanted; nil: any.
    let fileVersion: FileVersion?
    /// How often it is tried again; nil: as the configuration says.
    let retry: RetryPolicy?

    init(
        source: ImageSource, path: String?, deliversBytes: Bool, admission: DownloadRequest.Admission? = nil,
        fileVersion: FileVersion? = nil, retry: RetryPolicy? = nil
    ) {
        (self.source, self.path, self.deliversBytes, self.admission) = (source, path, deliversBytes, admission)
        (self.fileVersion, self.retry) = (fileVersion, retry)
    }
}

/// What makes two downloads the same: for a server the whole request, otherwise the source's identity and the version of a
/// file, and where the content goes. Requests of methods that are not safe (RFC 9110 section 9.2.1) are never the same.
struct TransferKey: Hashable, Sendable {
    private let request: TransferRequest
    /// Made once, because a key is looked for several times.
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
        guard a.digest == b.digest, a.request.path == b.request.path, a.request.fileVersion == b.request.fileVersion
        else {
            return false
        }
        // Who asks twice for something to be done wants it done twice.
        if case .http(let http) = a.request.source, !http.method.isSafe { return false }
        return a.request.source.identity == b.request.source.identity
    }

    func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}

/// Where a transfer waits for its slot.
enum TransferQueue: Sendable {
    /// With the transfers from the same server.
    case server(String)
    /// With the other files: a few are read at once.
    case files
    /// It needs no slot.
    case unlimited

    init(_ source: ImageSource) {
        switch source {
        case .http(let request): self = .server(request.url.origin)
        case .file: self = .files
        case .dataURL, .bytes, .provider, .image, .url: self = .unlimited
        }
    }
}
