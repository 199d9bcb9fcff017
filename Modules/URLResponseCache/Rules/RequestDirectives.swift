import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

/// The instructions of a request to a cache. Source: RFC 9111 section 5.2.1, RFC 9110 sections 13 and 14.
struct RequestDirectives {

    let method: HTTPMethod
    /// Whether the request must not go to the network.
    private(set) var isOnlyIfCached = false
    /// Whether a stored response must be validated before use. Sections 5.2.1.4 and 5.4.
    private(set) var requiresValidation = false
    /// Whether the fields of the request forbid storing its response. Section 5.2.1.5.
    private(set) var forbidsStoring = false
    /// The maximum age of the response in seconds; nil if the request sets none. An invalid value counts as 0.
    private(set) var maximumAge: Int?
    /// The time in seconds for which the response must stay fresh; nil if the request sets none. An invalid value
    /// counts as the maximum.
    private(set) var minimumFreshness: Int?
    /// The maximum time in seconds for which the response may have been stale; nil if it must be fresh.
    private(set) var maximumStaleness: Int?
    /// The maximum time in seconds for which the response may have been stale if the server fails. RFC 5861 section 4.
    private(set) var staleIfError = 0
    /// The requested range, if it is one range of bytes; otherwise nil.
    private(set) var range: ByteRange?
    /// Whether only the origin server can evaluate the request: it has a body, a precondition for a change, or a range
    /// that is not one range of bytes.
    private(set) var requiresOrigin: Bool
    /// Whether the caller has a copy of its own and requests its validation.
    private(set) var isConditional = false

    init(_ request: HTTPRequest) {
        method = request.method
        requiresOrigin = request.body != nil
        var (hasControl, hasPragma, hasRange) = (false, false, false)
        for field in request.fields {
            // The length of the name excludes most other fields, without lowercasing them.
            switch field.name.utf8.count {
            case 5: hasRange = hasRange || field.name.lowercased() == "range"
            case 6: hasPragma = hasPragma || field.name.lowercased() == "pragma"
            case 8, 19:
                let name = field.name.lowercased()
                requiresOrigin = requiresOrigin || name == "if-match" || name == "if-unmodified-since"
            case 13:
                let name = field.name.lowercased()
                hasControl = hasControl || name == "cache-control"
                isConditional = isConditional || name == "if-none-match"
            case 17: isConditional = isConditional || field.name.lowercased() == "if-modified-since"
            default: break
            }
        }
        if hasControl { read(CacheControl(request.fields)) }
        if hasPragma, !hasControl { requiresValidation = request.fields.list("Pragma", contains: "no-cache") }
        // RFC 9110 section 14.2: `Range` is only defined for GET.
        if hasRange, method == .get {
            let lines = request.fields.values(of: "Range")
            range = lines.count == 1 ? ByteRange(lines[0]) : nil
            if range == nil { requiresOrigin = true }
        }
    }

    /// Whether the request may change the resource; an unknown method may. RFC 9110 section 9.2.1.
    var isUnsafe: Bool { !method.isSafe }

    /// Whether the request may reject a response that is still fresh.
    var requestsNewerResponse: Bool { requiresValidation || maximumAge != nil || minimumFreshness != nil }

    private mutating func read(_ control: CacheControl) {
        isOnlyIfCached = control.contains("only-if-cached")
        requiresValidation = control.contains("no-cache")
        forbidsStoring = control.forbidsStoring
        maximumAge = control.seconds("max-age")?.orZero
        minimumFreshness = control.seconds("min-fresh").map { $0 == .invalid ? DeltaSeconds.limit : $0.orZero }
        if control.contains("max-stale") {
            // Without an argument, any staleness is accepted (section 5.2.1.2).
            maximumStaleness = control.hasArgument("max-stale") ? control.seconds("max-stale")?.orZero : .max
        }
        staleIfError = control.seconds("stale-if-error")?.orZero ?? 0
    }
}
