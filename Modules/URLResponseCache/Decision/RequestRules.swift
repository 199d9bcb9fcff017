import AlcedoCore
import FoundationEssentials

/// What a request allows a cache to do.
struct RequestRules {
    /// Fields that ask for a part, or under a condition of the caller's own, which the server has to judge.
    private static let conditions = [
        "Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range",
    ]
    private static let safeMethods: Set = ["GET", "HEAD", "OPTIONS", "TRACE"]

    /// Why the cache keeps out of it entirely; nil when it takes part.
    let bypass: ForwardReason?
    /// Whether the request may change what is at the URL; unknown methods may. RFC 9110 section 9.2.1.
    let isUnsafe: Bool
    /// Whether the network must not be asked. RFC 9111 section 5.2.1.7.
    let isOnlyIfCached: Bool
    /// Whether a stored answer has to be confirmed by the server. RFC 9111 sections 5.2.1.4 and 5.4.
    let demandsValidation: Bool
    /// The oldest answer that will do, in seconds; an unreadable one is 0.
    let maximumAge: Int?
    /// How long the answer has to stay fresh, in seconds; an unreadable one is as long as can be.
    let minimumFreshness: Int?

    init(_ request: HTTPRequest) {
        let control = CacheControl(request.fields)
        isUnsafe = !Self.safeMethods.contains(request.method.rawValue)
        isOnlyIfCached = control.contains("only-if-cached")
        let pragma = control.isEmpty && request.fields.list("Pragma", contains: "no-cache")
        demandsValidation = control.contains("no-cache") || pragma
        maximumAge = control.seconds("max-age")?.orZero
        minimumFreshness = control.seconds("min-fresh").map { $0 == .invalid ? DeltaSeconds.limit : $0.orZero }
        if request.method != .get {
            bypass = .method
        } else if control.forbidsStoring || request.body != nil
            || Self.conditions.contains(where: { request.fields[$0] != nil })
        {
            bypass = .bypass
        } else {
            bypass = nil
        }
    }
}
