import AlcedoCore
import FoundationEssentials

/// A request as the parser found it, before the origin numbers it.
struct OriginMessage: Equatable {
    var method: HTTPMethod
    var target: String
    var fields: HTTPFields
    var body = Data()
    /// Whether the client allows another request on its connection (RFC 9112 section 9.3).
    var keepsAlive: Bool

    /// Parses a head without its empty line.
    ///
    /// - Returns: nil when it is not HTTP/1.0 or HTTP/1.1 as RFC 9112 sections 3 and 5 write it.
    init?(head: [UInt8]) {
        // Bytes above 127 become U+0080 to U+00FF, as Core's fields want them.
        let text = String(latin1: head)
        var lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)[...]
        guard let parts = lines.popFirst()?.split(separator: " ", omittingEmptySubsequences: false), parts.count == 3
        else { return nil }
        guard parts[0].isToken, parts[1].first == "/", parts[1].utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        guard parts[2] == "HTTP/1.1" || parts[2] == "HTTP/1.0" else { return nil }
        method = HTTPMethod(rawValue: String(parts[0]))
        target = String(parts[1])
        fields = HTTPFields()
        for line in lines {
            guard let colon = line.firstIndex(of: ":"), line[..<colon].isToken else { return nil }
            var value = line[line.index(after: colon)...]
            while let first = value.first, first == " " || first == "\t" { value.removeFirst() }
            while let last = value.last, last == " " || last == "\t" { value.removeLast() }
            guard value.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F || $0 == "\t" }) else {
                return nil
            }
            fields.append(String(line[..<colon]), String(value))
        }
        keepsAlive = parts[2] == "HTTP/1.1" && !fields.list("Connection", contains: "close")
    }

    /// The length of the body that follows the head: 0 when none is declared, nil when the declaration is not one
    /// decimal number.
    var declaredBodyLength: Int? {
        guard let value = fields["Content-Length"] else { return 0 }
        guard !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(value)
    }
}
