import AlcedoCore
import FoundationEssentials

/// Makes heads ready to be stored. Source: RFC 9111 section 3.1.
enum StoredHead {
    private static let hopByHop: Set = [
        "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
        "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
    ]

    /// The head under the URL of the store, without the fields that belong to one connection, and with a date
    /// (RFC 9110 section 6.6.1).
    static func make(_ head: HTTPResponseHead, for request: HTTPRequest, receivedAt: Date) -> HTTPResponseHead {
        var head = head
        head.url = request.storageURL
        head.fields = endToEnd(head.fields)
        if head.fields.date("Date", now: receivedAt) == nil { head.fields["Date"] = HTTPDate.format(receivedAt) }
        return head
    }

    /// The fields without those that belong to one connection, which its `Connection` field may add to.
    static func endToEnd(_ fields: HTTPFields) -> HTTPFields {
        let named = hopByHop.union(fields.members(of: "Connection"))
        return HTTPFields(fields.fields.filter { !named.contains($0.name.lowercased()) })
    }
}
