import Alcedo
import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials

/// The rules of an origin for caches that store its response.
struct OriginCachePolicy: Sendable, Equatable {
    /// Whether thumbnails of the response may be stored, by the server or by clients.
    var allowsStoring = true
    /// The date until which a shared cache may use the response; nil if the origin does not specify one.
    var freshUntil: Date?
    /// The date until which a client's cache may use the response; nil if the origin does not specify one.
    var clientFreshUntil: Date?
    /// The age, in seconds, of a stored response that was used without revalidation; otherwise zero.
    var age: TimeInterval = 0

    init(
        allowsStoring: Bool = true, freshUntil: Date? = nil, clientFreshUntil: Date? = nil, age: TimeInterval = 0
    ) {
        (self.allowsStoring, self.freshUntil, self.clientFreshUntil) = (allowsStoring, freshUntil, clientFreshUntil)
        self.age = age
    }

    /// Creates the combination of the policies of the response and of all redirects that led to it.
    init(_ download: Download, now: Date) {
        guard let fields = download.head?.fields else {
            self.init()
            return
        }
        self.init(fields, now: now)
        if [.fresh, .stale].contains(download.caching?.source) {
            age = Double(DeltaSeconds(fields["Age"] ?? "").orZero)
        }
        if let redirects = RedirectPolicyTransport.recorded(in: fields) { self = combined(with: redirects) }
    }

    /// Creates the policy that header fields specify. Source: RFC 9111 sections 4.1, 4.2.1, 5.2.2 and 5.3.
    init(_ fields: HTTPFields, now: Date) {
        let directives = Self.directives(fields)
        allowsStoring = directives["no-store"] == nil && directives["private"] == nil
        guard directives["no-cache"] == nil, !fields.list("Vary", contains: "*") else {
            (freshUntil, clientFreshUntil) = (now, now)
            return
        }
        let age = Double(DeltaSeconds(fields["Age"] ?? "").orZero)
        if let seconds = directives["max-age"] {
            clientFreshUntil = now.addingTimeInterval(Double(DeltaSeconds(seconds).orZero) - age)
        } else if let text = fields["Expires"] {
            // An invalid date means that the response has expired.
            let expiry = HTTPDate.parse(text, now: now) ?? now
            let date = fields["Date"].flatMap { HTTPDate.parse($0, now: now) } ?? now
            clientFreshUntil = now.addingTimeInterval(expiry.timeIntervalSince(date) - age)
        }
        freshUntil = clientFreshUntil
        if let seconds = directives["s-maxage"] {
            freshUntil = now.addingTimeInterval(Double(DeltaSeconds(seconds).orZero) - age)
        }
    }

    /// Returns the stricter of both policies, rule by rule.
    func combined(with other: OriginCachePolicy) -> OriginCachePolicy {
        OriginCachePolicy(
            allowsStoring: allowsStoring && other.allowsStoring,
            freshUntil: [freshUntil, other.freshUntil].compactMap { $0 }.min(),
            clientFreshUntil: [clientFreshUntil, other.clientFreshUntil].compactMap { $0 }.min(),
            age: max(age, other.age))
    }

    /// Returns the dates until which a thumbnail of the response may be used, at most `limit` after the origin sent or
    /// validated the response; nil if the thumbnail must not be stored.
    func freshness(from now: Date, atMost limit: Duration) -> ThumbnailFreshness? {
        guard allowsStoring else { return nil }
        let shared = freshUntil ?? .distantFuture
        return ThumbnailFreshness(
            start: now.addingTimeInterval(-age), shared: shared, client: clientFreshUntil ?? shared
        )
        .limited(to: limit)
    }

    private static func directives(_ fields: HTTPFields) -> [String: String] {
        var directives: [String: String] = [:]
        for line in fields.values(of: "Cache-Control") {
            let (members, isUnambiguous) = QuotedList.parse(line)
            // A misplaced or unterminated quote may hide directives, so the response counts as `no-store`.
            if !isUnambiguous { directives["no-store"] = "" }
            for member in members {
                let parts = member.filter { !" \t\"".contains($0) }.split(separator: "=", maxSplits: 1)
                guard let name = parts.first?.lowercased(), directives[name] == nil else { continue }
                directives[name] = parts.count > 1 ? String(parts[1]) : ""
            }
        }
        return directives
    }
}

/// A transport that preserves the cache policies of redirects, which the final response does not contain. The redirect
/// hook records the policy in a field of the next request, and the transport copies the field to the response. The
/// field is neither sent to an origin nor accepted from one.
struct RedirectPolicyTransport: HTTPTransport {
    private static let field = "X-Alcedo-Redirect-Policy"

    private let transport: any HTTPTransport

    /// Creates a transport that wraps another one, which must not follow redirects.
    init(_ transport: any HTTPTransport) { self.transport = transport }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let policy = request.fields[Self.field]
        var request = request
        request.fields[Self.field] = nil
        var response = try await transport.send(request)
        response.head.fields[Self.field] = policy
        return response
    }

    /// Returns the next request with the combined policy of this redirect and all previous ones.
    static func recording(_ head: HTTPResponseHead, in next: HTTPRequest, now: Date) -> HTTPRequest {
        var policy = OriginCachePolicy(head.fields, now: now)
        if let before = recorded(in: head.fields) { policy = policy.combined(with: before) }
        var next = next
        next.fields[field] = [
            policy.allowsStoring ? "keep" : "drop", text(policy.freshUntil), text(policy.clientFreshUntil),
        ].joined(separator: " ")
        return next
    }

    /// Returns the combined policy of all redirects that led to a response; nil without redirects.
    static func recorded(in fields: HTTPFields) -> OriginCachePolicy? {
        guard let words = fields[field]?.split(separator: " "), words.count == 3 else { return nil }
        return OriginCachePolicy(
            allowsStoring: words[0] == "keep", freshUntil: date(words[1]), clientFreshUntil: date(words[2]))
    }

    private static func text(_ date: Date?) -> String { date.map { "\(Timestamp($0).milliseconds)" } ?? "-" }

    private static func date(_ text: Substring) -> Date? { Int64(text).map { Timestamp(milliseconds: $0).date } }
}
