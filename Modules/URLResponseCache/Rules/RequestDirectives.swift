import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

/// What a request tells a cache to do. Source: RFC 9111 section 5.2.1, RFC 9110 sections 13 and 14.
struct RequestDirectives {

    let method: HTTPMethod
    /// Whether the network must not be asked.
    private(set) var isOnlyIfCached = false
    /// Whether a stored answer has to be confirmed by the server. Sections 5.2.1.4 and 5.4.
    private(set) var requiresValidation = false
    /// Whether the request's fields forbid to store anything of it. Section 5.2.1.5.
    private(set) var forbidsStoring = false
    /// The oldest answer that will do, in seconds; an unreadable one is 0.
    private(set) var maximumAge: Int?
    /// How long the answer has to stay fresh, in seconds; an unreadable one is as long as can be.
    private(set) var minimumFreshness: Int?
    /// How long the answer may have been stale, in seconds; nil for not at all.
    private(set) var maximumStaleness: Int?
    /// How long the answer may have been stale when the server is in trouble. RFC 5861 section 4.
    private(set) var staleIfError = 0
    /// The range that is asked for, when it is one of bytes.
    private(set) var range: ByteRange?
    /// Whether only a server can judge the request: it has a body, a condition on what it changes, or a range that is
    /// not one of bytes.
    private(set) var requiresOrigin: Bool
    /// Whether the caller has a copy of its own and wants to know whether it is current.
    private(set) var isConditional = false

    init(_ request: HTTPRequest) {
        method = request.method
        requiresOrigin = request.body != nil
        var (hasControl, hasPragma, hasRange) = (false, false, false)
        for field in request.fields {
            // Most fields are told from these by their length alone.
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
        // Section 14.2 of RFC 9110: a range means something to GET only.
        if hasRange, method == .get {
            let lines = request.fields.values(of: "Range")
            range = lines.count == 1 ? ByteRange(lines[0]) : nil
            if range == nil { requiresOrigin = true }
        }
    }

    /// Whether the request may change what is at the URL; unknown methods may. RFC 9110 section 9.2.1.
    var isUnsafe: Bool { !method.isSafe }

    /// Whether the request wants something newer than what may be fresh.
    var requestsNewerResponse: Bool { requiresValidation || maximumAge != nil || minimumFreshness != nil }

    private mutating func read(_ control: CacheControl) {
        isOnlyIfCached = control.contains("only-if-cached")
        requiresValidation = control.contains("no-cache")
        forbidsStoring = control.forbidsStoring
        maximumAge = control.seconds("max-age")?.orZero
        minimumFreshness = control.seconds("min-fresh").map { $0 == .invalid ? DeltaSeconds.limit : $0.orZero }
        if control.contains("max-stale") {
            // Without an argument any staleness will do (section 5.2.1.2).
            maximumStaleness = control.hasArgument("max-stale") ? control.seconds("max-stale")?.orZero : .max
        }
        staleIfError = control.seconds("stale-if-error")?.orZero ?? 0
    }
}
