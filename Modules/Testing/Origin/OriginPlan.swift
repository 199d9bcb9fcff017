import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

/// A plan of the steps that send a response with its faults. It performs no input or output.
struct OriginPlan {
    private let reply: OriginReply
    private let hasBody: Bool
    private let closes: Bool
    private(set) var steps: [OriginStep] = []

    /// Creates the plan of a reply.
    ///
    /// - Parameters:
    ///   - reply: The reply to send.
    ///   - method: The method of the request.
    ///   - keepsAlive: Whether the client allows another request on the connection.
    init(_ reply: OriginReply, method: HTTPMethod, keepsAlive: Bool) {
        var reply = reply
        if reply.isEndless, reply.framing == .contentLength { reply.framing = .close }
        self.reply = reply
        // RFC 9112, section 6.3: these responses have no body, regardless of their fields.
        let isBodiless = method == .head || (100..<200).contains(reply.status) || [204, 304].contains(reply.status)
        hasBody = reply.framing == .raw || !isBodiless
        let endsByClosing =
            switch reply.framing {
            case .contentLength, .chunked(_, badAfter: nil): false
            case .chunked: true
            case .declaredLength, .close, .raw: hasBody
            }
        closes = endsByClosing || !keepsAlive || reply.fields.list("Connection", contains: "close")
        build()
    }

    private mutating func build() {
        guard addFaults(at: .beforeHead) else { return }
        if reply.framing != .raw { add(head) }
        let stops = bodyStops
        var position = 0
        for stop in stops {
            addBody(from: position, to: stop)
            position = stop
            if case .chunked(_, let bad?) = reply.framing, hasBody, min(bad, bodyEnd) == stop {
                add(Data("no number\r\n".utf8))
                steps.append(.close)
                return
            }
            guard addFaults(at: .afterBody(stop)) else { return }
        }
        addBody(from: position, to: hasBody && reply.isEndless ? nil : bodyEnd)
        if case .chunked = reply.framing, hasBody, !reply.isEndless { add(Data("0\r\n\r\n".utf8)) }
        if closes { steps.append(.close) }
    }

    /// The last position in the body at which a fault can occur. An endless body has no last position.
    private var bodyEnd: Int {
        guard hasBody else { return 0 }
        return reply.isEndless ? .max : reply.body.count
    }

    /// The positions of the faults in the body, in order.
    private var bodyStops: [Int] {
        var stops = reply.stalls.compactMap(offset)
        if let cut = reply.cut.flatMap({ offset($0.position) }) { stops.append(cut) }
        if case .chunked(_, let bad?) = reply.framing, hasBody { stops.append(min(max(0, bad), bodyEnd)) }
        return Set(stops).sorted()
    }

    private func offset(_ position: OriginReply.Position) -> Int? {
        guard case .afterBody(let count) = position else { return nil }
        return min(max(0, count), bodyEnd)
    }

    /// Adds the faults at a position. Returns whether the response continues after them.
    private mutating func addFaults(at position: OriginReply.Position) -> Bool {
        func isHere(_ other: OriginReply.Position) -> Bool {
            offset(other) == offset(position) && (other == .beforeHead) == (position == .beforeHead)
        }
        if reply.stalls.contains(where: isHere) { steps.append(.stall) }
        guard let cut = reply.cut, isHere(cut.position) else { return true }
        steps.append(cut.ending == .reset ? .reset : .close)
        return false
    }

    private mutating func addBody(from start: Int, to end: Int?) {
        guard hasBody else { return }
        let chunkSize: Int? = if case .chunked(let size, _) = reply.framing { max(1, size) } else { nil }
        let stored = reply.body.dropFirst(start).prefix(max(0, (end ?? .max) - start))
        if let chunkSize { add(Self.chunks(stored, size: chunkSize)) } else { add(stored) }
        guard reply.isEndless else { return }
        let generated = end.map { $0 - start - stored.count }
        if generated != 0 { steps.append(.generate(count: generated, inChunks: chunkSize != nil)) }
    }

    /// Adds bytes. They are merged with the previous step if both have at most 64 KiB together, so that a small
    /// response is sent in one packet.
    private mutating func add(_ bytes: Data) {
        guard !bytes.isEmpty else { return }
        if case .send(let before)? = steps.last, before.count + bytes.count <= 64 << 10 {
            steps[steps.count - 1] = .send(before + bytes)
        } else {
            steps.append(.send(bytes))
        }
    }

    private static func chunks(_ bytes: Data, size: Int) -> Data {
        var encoded = Data()
        var rest = bytes
        while !rest.isEmpty {
            let piece = rest.prefix(size)
            encoded.append(chunk(piece))
            rest = rest.dropFirst(piece.count)
        }
        return encoded
    }

    /// Returns one chunk. Source: RFC 9112, section 7.1.
    static func chunk(_ bytes: Data) -> Data {
        Data("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Data("\r\n".utf8)
    }

    private var head: Data {
        var fields = reply.fields
        if fields["Content-Length"] == nil, fields["Transfer-Encoding"] == nil {
            switch reply.framing {
            case .contentLength where ![204, 304].contains(reply.status) && reply.status >= 200:
                fields["Content-Length"] = String(reply.body.count)
            case .declaredLength(let length): fields["Content-Length"] = String(length)
            case .chunked: fields["Transfer-Encoding"] = "chunked"
            case .contentLength, .close, .raw: break
            }
        }
        if closes, fields["Connection"] == nil { fields["Connection"] = "close" }
        var text = "HTTP/1.1 \(reply.status) \(Self.reason(reply.status))\r\n"
        for field in fields { text += "\(field.name): \(field.value)\r\n" }
        text += "\r\n"
        // A head with a character outside Latin-1 is sent completely as UTF-8.
        return Data(text.latin1 ?? Array(text.utf8))
    }

    private static func reason(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 206: "Partial Content"
        case 301: "Moved Permanently"
        case 302: "Found"
        case 304: "Not Modified"
        case 404: "Not Found"
        case 500: "Internal Server Error"
        default: "Status"
        }
    }
}

/// A step of a connection that sends a response: sending bytes, waiting, or ending the connection.
enum OriginStep: Equatable {
    case send(Data)
    /// Sends `count` bytes of the endless body; nil for no end.
    case generate(count: Int?, inChunks: Bool)
    /// Waits for ``LoopbackOrigin/release()``.
    case stall
    /// Ends the connection immediately, with a reset.
    case reset
    /// Ends the connection in an orderly way.
    case close
}
