public import AlcedoHTTP
package import AlcedoRuntime
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
    /// An image that is already decoded. A pipeline begins at processing: ``DecodingOptions`` have no effect on it. The
    /// identity must differ where the pixels do.
    case image(DecodedImage, identity: String)
    /// A URL of another scheme, or of a file on another machine. Only a ``Downloading`` of the app's own fetches it; the
    /// package's `Downloader` throws `DownloadError` `unsupportedURL`.
    case url(URL)

    /// The source that a URL names by its scheme. Schemes are compared without case. A scheme other than `http`, `https`,
    /// `file` and `data`, and a file of another machine, give ``url(_:)``.
    public init(_ url: URL) {
        switch url.scheme?.lowercased() {
        case "http", "https": self = .http(HTTPRequest(url: url))
        case "file":
            // A host names another machine's file (RFC 8089 section 3).
            let isLocal = ["", "localhost"].contains(url.host()?.lowercased() ?? "")
            self = isLocal ? .file(url.path(percentEncoded: false)) : .url(url)
        case "data": self = .dataURL(url.absoluteString)
        default: self = .url(url)
        }
    }

    /// What the source is stored under unless the caller says otherwise.
    package var resource: ResourceKey {
        switch self {
        case .http(let request): ResourceKey(request)
        case .file(let path): ResourceKey("file:\(path)")
        case .dataURL(let text): ResourceKey(text)
        case .bytes(_, let identity): ResourceKey("bytes:\(identity)")
        case .provider(let identity, _): ResourceKey("provider:\(identity)")
        case .image(_, let identity): ResourceKey("image:\(identity)")
        // "bytes:a" is a URL, too.
        case .url(let url): ResourceKey("url:\(ResourceKey(url))")
        }
    }

    /// What two sources that get the same response have in common: those of servers the request in all parts, others their
    /// resource.
    package enum Identity: Hashable, Sendable {
        case request(HTTPRequest)
        case resource(ResourceKey)
    }

    package var identity: Identity {
        if case .http(let request) = self { .request(request) } else { .resource(resource) }
    }

    /// Whether keeping a copy of the bytes on disk saves anything: they come from somewhere slower than a disk.
    package var isWorthStoring: Bool {
        switch self {
        case .http, .provider, .url: true
        case .file, .dataURL, .bytes, .image: false
        }
    }

    /// The source in messages to people, without the name and password of a URL.
    package var shown: String {
        switch self {
        case .http(let request): request.url.shown
        case .file(let path): path
        case .dataURL(let text): "\(text.prefix { $0 != "," }.prefix(64)),..."
        case .bytes(_, let identity): "bytes \(identity)"
        case .provider(let identity, _): "provider \(identity)"
        case .image(_, let identity): "image \(identity)"
        case .url(let url): url.shown
        }
    }
}

extension Coalescer {
    package func value(
        for key: Key, from source: ImageSource? = nil, priority: PriorityHandle, onUpdate: Report? = nil,
        _ body: @escaping @Sendable (_ report: @escaping Report, _ priority: PriorityHandle) async throws -> Value
    ) async throws -> Value {
        try await value(
            for: key, from: source.map { CoalescerSource($0.identity) }, priority: priority.level, onUpdate: onUpdate
        ) { report, level in
            try await body(report, PriorityHandle(level: level))
        }
    }
}
