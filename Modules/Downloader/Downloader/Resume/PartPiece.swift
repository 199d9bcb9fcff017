import AlcedoCore
import FoundationEssentials

/// What a stored piece of a content says about itself, as JSON.
struct PartPiece: Codable, Equatable {
    /// Where in the content it begins.
    var offset: Int
    var url: String
    /// Names and values in turn.
    var fields: [String]

    /// Speak of somebody, or of one exchange; nothing that a file should have.
    private static let leftOut = [
        "set-cookie", "set-cookie2", "www-authenticate", "proxy-authenticate", "authentication-info",
        "proxy-authentication-info",
    ]

    init(of content: UnfinishedContent, offset: Int) {
        self.offset = offset
        url = content.head.url.absoluteString
        fields = content.head.fields.fields.filter { !Self.leftOut.contains($0.name.lowercased()) }
            .flatMap { [$0.name, $0.value] }
    }

    init?(_ metadata: Data) {
        guard let piece = try? JSONDecoder().decode(Self.self, from: metadata), piece.fields.count % 2 == 0 else {
            return nil
        }
        self = piece
    }

    var metadata: Data? { try? JSONEncoder().encode(self) }

    /// The content that it is of; nil when no such content could go on.
    func content(of request: HTTPRequest, now: Date) -> UnfinishedContent? {
        guard let url = URL(string: url) else { return nil }
        let lines = stride(from: 0, to: fields.count, by: 2).map { HTTPFields.Field(fields[$0], fields[$0 + 1]) }
        let head = HTTPResponseHead(url: url, status: 200, fields: HTTPFields(lines))
        return UnfinishedContent(of: request, head: head, now: now)
    }
}
