import FoundationEssentials

/// A line of the client's standard input.
struct CallLine: Encodable, Sendable {
    var id: Int
    var op = "fetch"
    var method = "GET"
    var url: String
    var headers: [[String]] = []
    var body: String?
    var cache = "default"
    var redirect = "follow"
    /// Longer than any test waits.
    var timeout_ms = 600_000

    init(_ id: Int, _ url: URL) {
        self.id = id
        self.url = url.absoluteString
    }

    var text: String {
        get throws { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) }
    }
}
