import Alcedo
import FoundationEssentials

/// Passes on what redirects say of caching, which would be lost with them: the hook of redirects notes it in the next
/// request, and from there it comes to the answer. No note goes out, and none that an origin sends is taken for one.
struct RedirectTerms: HTTPTransport {
    private static let field = "X-Alcedo-Redirect-Terms"

    private let transport: any HTTPTransport

    /// - Parameter transport: Which does not follow redirects.
    init(_ transport: any HTTPTransport) { self.transport = transport }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let note = request.fields[Self.field]
        var request = request
        request.fields[Self.field] = nil
        var response = try await transport.send(request)
        response.head.fields[Self.field] = note
        return response
    }

    /// The next request, with what the redirect says and what those before it did.
    static func noting(_ head: HTTPResponseHead, in next: HTTPRequest, now: Date) -> HTTPRequest {
        var terms = OriginTerms(head.fields, now: now)
        if let before = noted(in: head.fields) { terms = terms.strictest(before) }
        var next = next
        next.fields[field] = [
            terms.allowsStoring ? "keep" : "drop", text(terms.freshUntil), text(terms.clientFreshUntil),
        ].joined(separator: " ")
        return next
    }

    /// What all redirects on the way to an answer say; nil: there were none.
    static func noted(in fields: HTTPFields) -> OriginTerms? {
        guard let words = fields[field]?.split(separator: " "), words.count == 3 else { return nil }
        return OriginTerms(
            allowsStoring: words[0] == "keep", freshUntil: date(words[1]), clientFreshUntil: date(words[2]))
    }

    private static func text(_ date: Date?) -> String { date.map { "\(Timestamp($0).milliseconds)" } ?? "-" }

    private static func date(_ text: Substring) -> Date? { Int64(text).map { Timestamp(milliseconds: $0).date } }
}
