import Alcedo
import FoundationEssentials

/// A whole answer.
struct Reply: Sendable {
    var status: Int
    /// Without the length and the date, which the server adds.
    var fields: HTTPFields
    /// Not sent for a HEAD, nor with 304; its length is.
    var body: Data

    init(status: Int, fields: HTTPFields = HTTPFields(), body: Data = Data()) {
        self.status = status
        self.fields = fields
        self.body = body
        self.fields.append("X-Content-Type-Options", "nosniff")
    }

    /// A short text for people, which no cache keeps.
    init(status: Int, text: String, type: String = "text/plain; charset=utf-8") {
        self.init(status: status, fields: ["Content-Type": type, "Cache-Control": "no-store"], body: Data(text.utf8))
    }
}
