import AlcedoLibc
import ExampleSupport

/// A host and a port, written with a colon between; a number of version 6 in brackets.
struct NetworkPlace {
    let parts: (host: String, port: UInt16)

    /// - Throws: `UsageError`.
    init(_ option: String, _ text: String) throws {
        let colon = text.lastIndex(of: ":")
        let host = colon.map { text[..<$0] } ?? ""
        let plain = host.hasPrefix("[") && host.hasSuffix("]") ? host.dropFirst().dropLast() : host
        guard let colon, !plain.isEmpty, let port = UInt16(text[text.index(after: colon)...]) else {
            throw UsageError("\(option) takes HOST:PORT, not '\(text)'")
        }
        parts = (String(plain), port)
    }

    /// Whether the host is a number, not a name.
    var isNumber: Bool {
        var address = in6_addr()
        return inet_pton(parts.host.contains(":") ? AF_INET6 : AF_INET, parts.host, &address) == 1
    }
}
