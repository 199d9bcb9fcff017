import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

/// A parser that assembles the heads of a response from their lines.
///
/// libcurl's header callback passes one line at a time. The first interim responses (1xx) are collected, up to a limit.
/// Trailers, which follow the final head, are dropped. Bytes above 127 become the code points U+0080 to U+00FF. A
/// carriage return inside a field's value becomes a space. If a body has an invalid length or an unknown transfer
/// coding, parsing fails. Sources: RFC 9110 section 15.2, RFC 9112 sections 2.2, 4, 5, 6.3 and 7.
struct ResponseHeadParser: Sendable {
    /// The maximum number of bytes of the heads and trailers of a response together.
    static let limit = 256 << 10
    /// The maximum number of interim responses that are kept.
    static let interimLimit = 16

    private let url: URL
    /// Whether the request's method is HEAD. The response then has no body, whatever its fields declare.
    private let isHEAD: Bool
    private var status = 0
    private var fields: [HTTPFields.Field] = []
    /// Whether the preceding field line was dropped. Its continuation lines are then dropped as well.
    private var isFieldDropped = false
    private var interim: [HTTPResponseHead] = []
    private var byteCount = 0
    private var isDone = false

    init(url: URL, isHEAD: Bool = false) {
        self.url = url
        self.isHEAD = isHEAD
        fields.reserveCapacity(12)
    }

    /// Processes one line, including its line end. Returns the heads when the final head is complete, and nil
    /// otherwise.
    mutating func receive(_ line: UnsafeRawBufferPointer) throws(HTTPTransportError) -> ResponseHeads? {
        byteCount += line.count
        guard byteCount <= Self.limit else {
            throw HTTPTransportError(
                .invalidResponse, "the response header of \(url.shown) exceeds \(Self.limit) bytes")
        }
        guard !isDone else { return nil }
        var rest = line[...]
        if rest.last == 10 { rest.removeLast() }
        while rest.last == 13 { rest.removeLast() }
        let text = UnsafeRawBufferPointer(rebasing: rest)
        if text.isEmpty { return try finishHead() }
        // libcurl treats such a line as the end of the head.
        guard text.first != 13 else {
            throw HTTPTransportError(
                .invalidResponse, "a line of the response header of \(url.shown) begins with a carriage return")
        }
        if text.starts(with: "HTTP/".utf8) {
            let code = text.drop { $0 != 0x20 }.drop { $0 == 0x20 }.prefix { $0 != 0x20 }
            guard let number = Int(String(decoding: code, as: UTF8.self)), (100...999).contains(number) else {
                throw HTTPTransportError(.invalidResponse, "the response of \(url.shown) has no status line")
            }
            status = number
            fields.removeAll(keepingCapacity: true)
            isFieldDropped = false
        } else if let first = text.first, Self.isSpace(first) {
            // A continuation line of the preceding field (obsolete line folding).
            if let last = fields.indices.last, !isFieldDropped {
                fields[last].value += " " + Self.string(text[...])
            }
        } else {
            let field = Self.field(text)
            isFieldDropped = field == nil
            if let field { fields.append(field) }
        }
        return nil
    }

    /// Returns the field of a line; nil if the line is not a valid field.
    private static func field(_ line: UnsafeRawBufferPointer) -> HTTPFields.Field? {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        // Spaces before the colon, which some servers insert, are removed. A field with another invalid name is
        // dropped.
        let name = string(line[..<colon])
        return name.isToken ? HTTPFields.Field(name, string(line[(colon + 1)...])) : nil
    }

    private mutating func finishHead() throws(HTTPTransportError) -> ResponseHeads? {
        var head = HTTPResponseHead(url: url, status: status, fields: HTTPFields(fields))
        // 101 is final, because the protocol after it is not HTTP.
        guard status >= 200 || status == 101 else {
            if status >= 100, interim.count < Self.interimLimit { interim.append(head) }
            return nil
        }
        isDone = true
        if !isHEAD, ![101, 204, 304].contains(status) { head.fields = try head.fields.framed() }
        return ResponseHeads(final: head, interim: interim)
    }

    /// Returns the text without whitespace at its ends. A carriage return inside becomes a space: RFC 9112 section 2.2.
    private static func string(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        var rest = bytes.drop(while: isSpace)
        while let last = rest.last, isSpace(last) { rest.removeLast() }
        let text = UnsafeRawBufferPointer(rebasing: rest)
        guard text.contains(13) else { return String(latin1: text) }
        return text.map { $0 == 13 ? 0x20 : $0 }.withUnsafeBytes { String(latin1: $0) }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
}

struct ResponseHeads: Sendable {
    var final: HTTPResponseHead
    /// The heads of the first interim responses, in the order of their arrival.
    var interim: [HTTPResponseHead]
}
