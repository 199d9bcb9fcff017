public import AlcedoHTTP
package import AlcedoRuntime
public import FoundationEssentials

/// The source of an image.
///
/// ```swift
/// let scan = ImageRequest(source: .file("/srv/scans/1.png"))
/// let upload = ImageRequest(source: .bytes(body, identity: "upload-42"))
/// ```
public enum ImageSource: Sendable {
    /// An HTTP request to a server.
    case http(HTTPRequest)
    /// A file at a path.
    case file(String)
    /// A `data:` URL (RFC 2397), base64 or percent-encoded.
    case dataURL(String)
    /// Bytes in memory. Different bytes must have different identities.
    case bytes(Data, identity: String)
    /// A closure that returns the bytes. Closures that return different bytes must have different identities.
    ///
    /// The closure may load other images, also through the pipeline that runs it. It must not load its own identity
    /// through that pipeline, nor another source than a server with the same ``ImageRequest/resource`` and cache
    /// policy, directly or through the closure of another provider. Such a load would wait for itself, so the pipeline
    /// makes it fail. The pipeline detects such loads in the closure's task and in tasks that inherit the task-local
    /// values of that task, but not in detached tasks.
    ///
    /// The pipeline does not limit the number of closures that run concurrently. The returned bytes count toward the
    /// pipeline's limit on encoded bytes, from the moment the closure returns.
    ///
    /// A `CancellationError` that the closure throws while its task is not canceled makes the load fail with
    /// `PipelineError` `providerCancelled`. After a cancellation of the load, callers receive `CancellationError`.
    case provider(identity: String, @Sendable () async throws -> Data)
    /// A decoded image. A pipeline starts with the conversion of its colors, and ``DecodingOptions`` have no effect.
    /// Images with different pixels must have different identities.
    case image(DecodedImage, identity: String)
    /// A closure that returns a decoded image, such as a rendered page or a frame of a camera.
    ///
    /// ```swift
    /// let map = ImageRequest(source: .imageProvider(identity: "map 7") { try await load.value })
    /// ```
    ///
    /// Closures that return different pixels must have different identities. The closure is called when memory does
    /// not have the image, once for all requests that wait for it, and not for a request that may not use the network.
    /// The image is not decoded, and neither it nor images made from it are stored on disk. The rules of
    /// ``provider(identity:_:)`` for loads within the closure and for cancellation apply. The pixels that the closure
    /// allocates count toward no limit of the pipeline.
    case imageProvider(identity: String, @Sendable () async throws -> DecodedImage)
    /// A URL with another scheme, or of a file on another machine. Only an app's own ``Downloading`` can load it. The
    /// package's `Downloader` throws `DownloadError` `unsupportedURL`.
    case url(URL)

    /// Creates the source for the scheme of a URL. Schemes are case-insensitive. A scheme other than `http`, `https`,
    /// `file` and `data`, and a file on another machine, become ``url(_:)``.
    public init(_ url: URL) {
        switch url.scheme?.lowercased() {
        case "http", "https": self = .http(HTTPRequest(url: url))
        case "file":
            // A host denotes a file on another machine (RFC 8089 section 3).
            let isLocal = ["", "localhost"].contains(url.host()?.lowercased() ?? "")
            self = isLocal ? .file(url.path(percentEncoded: false)) : .url(url)
        case "data": self = .dataURL(url.absoluteString)
        default: self = .url(url)
        }
    }

    /// Whether the source is a local file.
    var isFile: Bool { if case .file = self { true } else { false } }

    /// The resource under which caches store the image of this source, unless the request specifies another.
    package var resource: ResourceKey {
        switch self {
        case .http(let request): ResourceKey(request)
        case .file(let path): ResourceKey("file:\(path)")
        case .dataURL(let text): ResourceKey(text)
        case .bytes(_, let identity): ResourceKey("bytes:\(identity)")
        case .provider(let identity, _): ResourceKey("provider:\(identity)")
        case .image(_, let identity): ResourceKey("image:\(identity)")
        case .imageProvider(let identity, _): ResourceKey("image-provider:\(identity)")
        // The prefix avoids collisions, because "bytes:a" is also a URL.
        case .url(let url): ResourceKey("url:\(ResourceKey(url))")
        }
    }

    /// The identity of sources that return the same response: the complete HTTP request for servers, the resource for
    /// other sources.
    package enum Identity: Hashable, Sendable {
        case request(HTTPRequest)
        case resource(ResourceKey)
    }

    package var identity: Identity {
        if case .http(let request) = self { .request(request) } else { .resource(resource) }
    }

    /// Whether storing a copy of the bytes on disk saves time, because the source is slower than a disk.
    package var isWorthStoring: Bool {
        switch self {
        case .http, .provider, .url: true
        case .file, .dataURL, .bytes, .image, .imageProvider: false
        }
    }

    /// The URL or the path for messages, without the user name and password; nil for other sources.
    package var shownURL: String? {
        switch self {
        case .http, .url, .file, .dataURL: shown
        case .bytes, .provider, .image, .imageProvider: nil
        }
    }

    /// A description of the source for messages, without the user name and password of a URL.
    package var shown: String {
        switch self {
        case .http(let request): request.url.shown
        case .file(let path): path.excerpt
        case .dataURL(let text): "\(text.prefix { $0 != "," }.prefix(64)),..."
        case .bytes(_, let identity): identity.excerpt
        case .provider(let identity, _), .imageProvider(let identity, _): "provider \(identity.excerpt)"
        case .image(_, let identity): "image \(identity.excerpt)"
        case .url(let url): url.shown
        }
    }
}

extension ImageSource {
    /// Returns whether sources have the same URL, whatever else distinguishes their requests. A fragment does not
    /// count. Sources without a URL are compared by their identities.
    package func hasSameURL(as other: ImageSource) -> Bool { identity.hasSameURL(as: other.identity) }
}

extension ImageSource.Identity {
    fileprivate func hasSameURL(as other: Self) -> Bool {
        guard case .request(let request) = self, case .request(let otherRequest) = other else { return self == other }
        return ResourceKey(request.url) == ResourceKey(otherRequest.url)
    }
}

/// The source of shared work: requests with equal values fail alike. A modifier that runs for each download is part of
/// it.
private struct WorkSource: Hashable {
    let source: ImageSource.Identity
    let modifier: RequestToken?
}

extension ImageRequest {
    /// The source of the shared work that loads the request.
    package var workSource: CoalescerSource {
        CoalescerSource(WorkSource(source: source.identity, modifier: modifierToken), owner: renewal?.modifier)
    }
}

extension Coalescer {
    /// Cancels the cancelable waiters whose requests have the URL of a source.
    package func cancel(_ source: ImageSource) {
        let identity = source.identity
        // The identity of a source is a value of any type, because a coalescer knows no requests.
        cancel { ($0.identity.value as? WorkSource)?.source.hasSameURL(as: identity) == true }
    }
}
