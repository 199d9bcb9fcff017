import AlcedoCore
import FoundationEssentials

/// Puts the head of an answer together from its lines.
///
/// Interim answers (1xx) are dropped; trailers, which come after the head, too. Bytes above 127 become the code points
/// U+0080 to U+00FF. Source: RFC 9112 sections 4 and 5; libcurl's header callback gives one line at a time.
struct ResponseHeadParser: Sendable {
    /// Most bytes of one head.
    static let limit = 256 << 10

    private let url: URL
    private var status = 0
    private var fields: [HTTPFields.Field] = []
    private var byteCount = 0
    private var isDone = false

    init(url: URL) { self.url = url }

    /// Takes one line with its line end. Returns the head after the last line of a final answer's head.
    mutating func receive(_ line: UnsafeRawBufferPointer) throws(HTTPTransportError) -> HTTPResponseHead? {
        guard !isDone else { return nil }
        byteCount += line.count
        guard byteCount <= Self.limit else {
            throw HTTPTransportError(.invalidResponse, "the answer's head has more than \(Self.limit) bytes")
        }
        let text = line.prefix { $0 != 10 && $0 != 13 }
        if text.isEmpty { return finishHead() }
        if text.starts(with: "HTTP/".utf8) {
            let code = text.drop { $0 != 0x20 }.drop { $0 == 0x20 }.prefix { $0 != 0x20 }
            guard let number = Int(String(decoding: code, as: UTF8.self)), (100...999).contains(number) else {
                throw HTTPTransportError(.invalidResponse, "the answer has no status")
            }
            (status, fields) = (number, [])
        } else if let colon = text.firstIndex(of: UInt8(ascii: ":")) {
            let name = Self.string(text[..<colon])
            fields.append(HTTPFields.Field(name, Self.string(Self.trimmed(text[(colon + 1)...]))))
        }
        return nil
    }

    private mutating func finishHead() -> HTTPResponseHead? {
        guard status >= 200 || status == 101 else { return nil }
        isDone = true
        return HTTPResponseHead(url: url, status: status, fields: HTTPFields(fields))
    }

    private static func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        var rest = bytes.drop(while: isSpace)
        while let last = rest.last, isSpace(last) { rest.removeLast() }
        return rest
    }

    private static func string(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        guard bytes.contains(where: { $0 >= 0x80 }) else { return String(decoding: bytes, as: UTF8.self) }
        return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}
