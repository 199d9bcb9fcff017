/// The use of response caches by a request: the policies of `NSURLRequest.CachePolicy`, with the same meaning.
///
/// A policy applies to stored responses that match the request. Responses for requests with other values of the fields
/// in `Vary` are never used. A transport without a cache ignores the policy.
public enum HTTPCachePolicy: String, Sendable, Hashable, CaseIterable {
    /// Follows the rules of HTTP: serves a fresh stored response, otherwise uses the network, with a conditional
    /// request if a response is stored. A stale response is served only as far as the response, the request and the
    /// cache's configuration allow it.
    case useProtocolCachePolicy
    /// Uses the network with an unconditional request. Stored responses are not served, but the new response may be
    /// stored.
    case reloadIgnoringLocalCacheData
    /// Uses the network, and instructs the caches on the path not to serve stored responses either. The new response
    /// may be stored.
    ///
    /// A pipeline also sends a request with this policy if the last response was not an image that it could decode,
    /// such as the page of a captive portal. A cache of another kind that respects the policy, and sets
    /// ``HTTPResponse/responseSource``, therefore never keeps such a response longer than its own transport does.
    case reloadIgnoringLocalAndRemoteCacheData
    /// Serves the stored response regardless of its age, and uses the network only if no response is stored.
    case returnCacheDataElseLoad
    /// Serves the stored response regardless of its age, and never uses the network: offline mode. The request fails
    /// with `notCached` if no response is stored.
    case returnCacheDataDontLoad
    /// Validates the stored response with the server before use, fresh or not: an ordinary reload. A fresh response
    /// with `immutable` is served without validation (RFC 8246), unless the request has `no-cache`, `max-age` or
    /// `min-fresh`.
    case reloadRevalidatingCacheData

    /// Whether the policy forbids serving or validating a stored response.
    package var isReload: Bool {
        self == .reloadIgnoringLocalCacheData || self == .reloadIgnoringLocalAndRemoteCacheData
    }
}
