import Alcedo
import AlcedoCore
import ExampleSupport
import FoundationEssentials

/// A field that every request is to have, as `--header` names it.
struct HeaderOption: Sendable {
    /// These belong to one connection, or to a body; a false one would break the exchange.
    private static let ofTheExchange: Set = [
        "connection", "content-length", "expect", "keep-alive", "proxy-connection", "te", "trailer",
        "transfer-encoding", "upgrade",
    ]

    /// Go along to another origin. Of any other field nobody can tell whether it is a secret.
    private static let harmless: Set = [
        "accept", "accept-encoding", "accept-language", "cache-control", "dnt", "pragma", "user-agent",
    ]

    let field: HTTPFields.Field

    /// - Parameter text: `Name: value`; the value may be missing, the colon not.
    init(_ text: String) throws {
        guard let colon = text.firstIndex(of: ":"), text[..<colon].isToken else {
            throw UsageError("--header takes 'Name: value', not '\(text)'")
        }
        let name = String(text[..<colon])
        let value = text[text.index(after: colon)...].trimmingPrefix { $0 == " " || $0 == "\t" }
        guard let bytes = String(value).latin1, bytes.allSatisfy({ $0 == 9 || $0 >= 32 && $0 != 127 }) else {
            throw UsageError("--header cannot send the value of \(name): it has characters that no field can have")
        }
        guard !Self.ofTheExchange.contains(name.lowercased()) else {
            throw UsageError("--header cannot set \(name), which belongs to the connection")
        }
        let end = value.reversed().prefix { $0 == " " || $0 == "\t" }.count
        field = HTTPFields.Field(name, String(value.dropLast(end)))
    }

    /// The request with the fields, kept apart in every cache from the same one without: a server may look at any field.
    static func add(_ headers: [HeaderOption], to request: ImageRequest) -> ImageRequest {
        guard case .http(var http) = request.source, !headers.isEmpty else { return request }
        for header in headers { http.fields.append(header.field.name, header.field.value) }
        var request = request
        request.source = .http(http)
        let lines = headers.map { "\($0.field.name.lowercased()): \($0.field.value)" }
        request.resource = ResourceKey(
            "\(request.source.resource) \(SHA256.hexDigest(of: lines.joined(separator: "\n")))")
        return request
    }

    /// Keeps what may be a credential from another origin.
    static func keepSecrets(_ head: HTTPResponseHead, _ next: HTTPRequest, of headers: [HeaderOption]) -> HTTPRequest {
        guard head.url.origin != next.url.origin else { return next }
        var next = next
        for header in headers where !harmless.contains(header.field.name.lowercased()) {
            next.fields[header.field.name] = nil
        }
        return next
    }
}
