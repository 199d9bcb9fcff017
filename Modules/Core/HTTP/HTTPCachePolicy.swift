/// How a request uses the response caches on its way: the policies of `NSURLRequest.CachePolicy`, with their meaning.
///
/// What a policy reads is said of answers that were stored for such a request; answers for requests with other fields
/// (`Vary`) are never used. A transport without a cache ignores it.
public enum HTTPCachePolicy: String, Sendable, Hashable, CaseIterable {
    /// As HTTP has it: a fresh answer from the store, else the network, on condition where something is stored.
    case useProtocolCachePolicy
    /// Always the network, without a condition; what is stored is not read, the answer may be stored.
    case reloadIgnoringLocalCacheData
    /// The same, and the caches on the way are told not to answer from their stores either.
    case reloadIgnoringLocalAndRemoteCacheData
    /// What is stored, whatever its age; the network only when there is nothing.
    case returnCacheDataElseLoad
    /// What is stored, whatever its age, and never the network: offline mode. Nothing stored is the error `notCached`.
    case returnCacheDataDontLoad
    /// What is stored, fresh or not, only after the server has confirmed it: an ordinary reload. A fresh response that
    /// is `immutable` needs no confirmation (RFC 8246), unless the request has `no-cache`, `max-age` or `min-fresh`.
    case reloadRevalidatingCacheData
}
