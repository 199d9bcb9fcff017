import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

/// A parser that divides the bytes of one connection into requests. It performs no input or output.
struct OriginParser {
    enum Outcome: Equatable {
        /// More bytes are needed.
        case incomplete
        /// The client waits for a 100 (Continue) response before it sends the body (RFC 9110, section 10.1.1). Reported
        /// once for each request.
        case expectsContinue
        case message(OriginMessage)
        /// The bytes are not a request that can be served. Later bytes cannot be parsed either.
        case rejected(status: Int)
    }

    private let headLimit: Int
    private let bodyLimit: Int
    private var buffer: [UInt8] = []
    /// The index before which the head does not end, so bytes that arrive slowly are scanned only once.
    private var scanned = 0
    private var awaited: (message: OriginMessage, bodyLength: Int)?

    init(options: OriginOptions) {
        headLimit = max(64, options.headLimit)
        bodyLimit = max(0, options.bodyLimit)
    }

    /// The number of bytes that are not yet parsed.
    var count: Int { buffer.count }

    mutating func append(_ bytes: some Sequence<UInt8>) {
        buffer.append(contentsOf: bytes)
    }

    /// Returns the next complete request and removes its bytes, or returns the reason why there is none.
    mutating func next() -> Outcome {
        if awaited == nil {
            if let outcome = readHead() { return outcome }
        }
        guard let (message, length) = awaited, buffer.count >= length else { return .incomplete }
        var complete = message
        complete.body = Data(buffer.prefix(length))
        buffer.removeFirst(length)
        awaited = nil
        return .message(complete)
    }

    /// Parses the head and, if it is complete and valid, removes its bytes. Returns nil if the body is to be read next.
    private mutating func readHead() -> Outcome? {
        // RFC 9112, section 2.2: an empty line before a request is ignored.
        while buffer.starts(with: [13, 10]) { (buffer, scanned) = (Array(buffer.dropFirst(2)), 0) }
        // A method cannot begin with this byte. It may be a TLS handshake, in which the end of a head would never be
        // found.
        if let first = buffer.first, first < 0x21 || first > 0x7E, first != 13 { return .rejected(status: 400) }
        guard let end = headEnd() else {
            // The last bytes may be the beginning of the empty line, which does not count.
            return scanned > headLimit ? .rejected(status: 431) : .incomplete
        }
        guard end <= headLimit else { return .rejected(status: 431) }
        guard let message = OriginMessage(head: Array(buffer[..<end])) else { return .rejected(status: 400) }
        guard message.fields["Transfer-Encoding"] == nil else { return .rejected(status: 501) }
        guard let length = message.declaredBodyLength else { return .rejected(status: 400) }
        guard length <= bodyLimit else { return .rejected(status: 413) }
        buffer.removeFirst(end + 4)
        scanned = 0
        awaited = (message, length)
        return message.expectsContinue && length > buffer.count ? .expectsContinue : nil
    }

    /// Returns the index of the empty line that ends the head; nil if it has not arrived.
    private mutating func headEnd() -> Int? {
        var index = scanned
        while index + 4 <= buffer.count {
            if buffer[index] == 13, buffer[index + 1] == 10, buffer[index + 2] == 13, buffer[index + 3] == 10 {
                return index
            }
            index += 1
        }
        scanned = index
        return nil
    }
}

/// A parsed request that the origin has not yet numbered.
struct OriginMessage: Equatable {
    var method: HTTPMethod
    var target: String
    var fields: HTTPFields
    var body = Data()
    /// Whether another request may follow on the connection: the version is HTTP/1.1, and the client has not sent
    /// `Connection: close` (RFC 9112, section 9.3). A `keep-alive` of HTTP/1.0 is ignored.
    var keepsAlive: Bool
    /// Whether the client expects a 100 (Continue) response before it sends the body. The expectation is ignored in
    /// HTTP/1.0 (RFC 9110, section 10.1.1).
    var expectsContinue: Bool

    /// Creates a request from a head without its empty line.
    ///
    /// - Returns: A request, or nil if a line is not valid in HTTP/1.0 or HTTP/1.1 (RFC 9112, sections 3 and 5), or if
    ///   the target does not begin with a slash. As for a proxy, the target may also be an `http` URL, and that of
    ///   `CONNECT` a host with a port. A missing Host field is accepted.
    init?(head: [UInt8]) {
        // Bytes above 127 become U+0080 to U+00FF, the representation that `HTTPFields` requires.
        let text = String(latin1: head)
        var lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)[...]
        guard let parts = lines.popFirst()?.split(separator: " ", omittingEmptySubsequences: false), parts.count == 3
        else { return nil }
        let isForProxy = parts[1].hasPrefix("http://") || parts[0] == "CONNECT"
        guard parts[0].isToken, parts[1].first == "/" || isForProxy,
            parts[1].utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        guard parts[2] == "HTTP/1.1" || parts[2] == "HTTP/1.0" else { return nil }
        method = HTTPMethod(rawValue: String(parts[0]))
        target = String(parts[1])
        fields = HTTPFields()
        for line in lines {
            guard let colon = line.firstIndex(of: ":"), line[..<colon].isToken else { return nil }
            let value = line[line.index(after: colon)...].trimmingBlanks
            guard value.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F || $0 == "\t" }) else {
                return nil
            }
            fields.append(String(line[..<colon]), String(value))
        }
        keepsAlive = parts[2] == "HTTP/1.1" && !fields.list("Connection", contains: "close")
        expectsContinue = parts[2] == "HTTP/1.1" && fields.list("Expect", contains: "100-continue")
    }

    /// The length of the body that follows the head: 0 if none is declared, nil if the declaration is not one decimal
    /// number or exceeds `Int`.
    var declaredBodyLength: Int? {
        guard let value = fields["Content-Length"] else { return 0 }
        guard !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(value)
    }
}
