import FoundationEssentials

/// A line of the client's standard output.
struct ResponseLine: Decodable, Sendable {
    struct Hello: Decodable, Sendable {
        var name: String
        var version: String
    }

    struct Interim: Decodable, Sendable {
        var status: Int
        var headers: [[String]]

        init(from decoder: any Decoder) throws {
            var pair = try decoder.unkeyedContainer()
            status = try pair.decode(Int.self)
            headers = try pair.decode([[String]].self)
        }
    }

    var hello: Hello?
    var id: Int?
    var status: Int?
    var headers: [[String]]?
    /// Decoded from base64.
    var body_base64: Data?
    var interim: [Interim]?
    var from_cache: Bool?
    var error: String?
    var error_kind: String?

    /// The body as text.
    var text: String? { body_base64.map { String(decoding: $0, as: UTF8.self) } }

    func values(_ name: String) -> [String] {
        (headers ?? []).filter { $0[0].lowercased() == name.lowercased() }.map { $0[1] }
    }
}
