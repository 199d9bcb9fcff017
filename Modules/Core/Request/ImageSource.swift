public import FoundationEssentials

/// Where the bytes of an image come from.
public enum ImageSource: Sendable {
    /// A request to a server.
    case http(HTTPRequest)
    /// A file by its path.
    case file(String)
    /// A `data:` URL (RFC 2397), base64 or percent-encoded.
    case dataURL(String)
    /// Bytes in memory. The identity must differ where the bytes do.
    case bytes(Data, identity: String)
    /// A closure. The identity must differ where the bytes it gives do.
    ///
    /// The closure may load other images, also through the pipeline that runs it. A load of its own identity through that
    /// pipeline, or of another source under the same ``ImageRequest/resource`` and with the same cache policy, direct or by
    /// the closure of another provider, would wait for itself: it gets the pipeline's error. The pipeline recognizes such a
    /// load in the closure's task and the tasks that inherit its task-local values, not in detached tasks. The pipeline runs
    /// any number of closures at once, and counts their bytes from when they have come.
    case provider(identity: String, @Sendable () async throws -> Data)

    /// The source that a URL names by its scheme; schemes are compared without case.
    ///
    /// - Returns: nil when the scheme is none of `http`, `https`, `file` and `data`, and for a file of another machine.
    public init?(_ url: URL) {
        switch url.scheme?.lowercased() {
        case "http", "https": self = .http(HTTPRequest(url: url))
        case "file":
            // Another machine's file (RFC 8089 section 3) is not to be had here.
            guard ["", "localhost"].contains(url.host()?.lowercased() ?? "") else { return nil }
            self = .file(url.path(percentEncoded: false))
        case "data": self = .dataURL(url.absoluteString)
        default: return nil
        }
    }

    /// What the source is stored under unless the caller says otherwise.
    public var resource: ResourceKey {
        switch self {
        case .http(let request): ResourceKey(request)
        case .file(let path): ResourceKey("file:\(path)")
        case .dataURL(let text): ResourceKey(text)
        case .bytes(_, let identity): ResourceKey("bytes:\(identity)")
        case .provider(let identity, _): ResourceKey("provider:\(identity)")
        }
    }

    /// Whether two sources get the same response: of servers, whether the requests are equal in all parts; of others,
    /// whether they have one identity.
    package static func areSame(_ a: ImageSource?, _ b: ImageSource?) -> Bool {
        switch (a, b) {
        case (.http(let a), .http(let b)): a == b
        case (.http, _), (_, .http): false
        default: a?.resource == b?.resource
        }
    }

    /// Whether keeping a copy of the bytes on disk saves anything: they come from somewhere slower than a disk.
    public var isWorthStoring: Bool {
        switch self {
        case .http, .provider: true
        case .file, .dataURL, .bytes: false
        }
    }
}
