public import AlcedoCore
public import FoundationEssentials

extension OriginReply {
    /// An answer 200 with a body.
    public static func ok(_ body: Data, type: String = "application/octet-stream") -> OriginReply {
        OriginReply(fields: ["Content-Type": type], body: body)
    }

    /// An answer 200 with a text.
    public static func text(_ text: String) -> OriginReply {
        ok(Data(text.utf8), type: "text/plain; charset=utf-8")
    }

    /// An answer that has a status and nothing else.
    public static func status(_ status: Int, fields: HTTPFields = HTTPFields()) -> OriginReply {
        OriginReply(status: status, fields: fields)
    }

    /// A redirect. `location` is sent as it is.
    public static func redirect(to location: String, status: Int = 302) -> OriginReply {
        OriginReply(status: status, fields: ["Location": location])
    }

    /// An answer that may not be HTTP at all; the connection is closed after it.
    public static func raw(_ bytes: Data) -> OriginReply {
        OriginReply(body: bytes, framing: .raw)
    }

    /// An answer 200 whose body ends only when the client goes.
    public static func endless(framing: Framing = .close) -> OriginReply {
        var reply = OriginReply(framing: framing)
        reply.isEndless = true
        return reply
    }

    /// The same answer that waits here for ``LoopbackOrigin/release()``.
    public func stalling(at position: Position) -> OriginReply {
        var reply = self
        reply.stalls.insert(position)
        return reply
    }

    /// The same answer, but the connection is cut here.
    public func cutting(at position: Position, _ manner: Cut.Manner = .finish) -> OriginReply {
        var reply = self
        reply.cut = Cut(position, manner)
        return reply
    }

    /// The same answer with another framing of its body.
    public func framed(_ framing: Framing) -> OriginReply {
        var reply = self
        reply.framing = framing
        return reply
    }

    /// The same answer with one field set.
    public func setting(_ name: String, _ value: String) -> OriginReply {
        var reply = self
        reply.fields[name] = value
        return reply
    }
}
