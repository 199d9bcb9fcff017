import AlcedoCore
import FoundationEssentials

/// Asks the server whether a stored answer still holds, and takes in what it says. Source: RFC 9111 section 4.3.
enum Validation {
    /// Fields that describe the stored bytes, and that an answer without bytes must not change (section 3.2).
    private static let bodyFields: Set = ["content-length", "content-encoding", "content-range"]

    /// The condition to send; of no fields when the answer has no validator. Section 4.3.1.
    static func condition(for head: HTTPResponseHead, receivedAt: Date) -> HTTPFields {
        var fields = HTTPFields()
        if let tag = head.fields.entityTag { fields["If-None-Match"] = tag.text }
        if head.fields.date("Last-Modified", now: receivedAt) != nil {
            fields["If-Modified-Since"] = head.fields["Last-Modified"]
        }
        return fields
    }

    /// Whether a 304 is about this answer: it names no validator, or the answer's own. Section 4.3.4.
    static func confirms(_ notModified: HTTPResponseHead, _ stored: StoredResponse) -> Bool {
        if notModified.fields["ETag"] != nil {
            guard let tag = notModified.fields.entityTag, let own = stored.head.fields.entityTag else { return false }
            return tag.confirms(own)
        }
        guard let modified = notModified.fields["Last-Modified"] else { return true }
        return modified == stored.head.fields["Last-Modified"]
    }

    /// The stored answer with the fields of the 304 in the place of its own. Sections 3.2 and 4.3.4.
    static func freshened(
        _ stored: StoredResponse, by notModified: HTTPResponseHead, to request: HTTPRequest, requestTime: Date,
        responseTime: Date
    ) -> StoredResponse {
        let new = StoredHead.endToEnd(notModified.fields).fields.filter {
            !bodyFields.contains($0.name.lowercased())
        }
        // The age and date of the first answer say nothing about this one.
        let replaced = Set(new.map { $0.name.lowercased() }).union(["age", "date"])
        let kept = stored.head.fields.fields.filter { !replaced.contains($0.name.lowercased()) }
        var head = HTTPResponseHead(url: stored.head.url, status: stored.head.status, fields: HTTPFields(kept + new))
        head = StoredHead.make(head, for: request, receivedAt: responseTime)
        return StoredResponse(
            head: head, body: stored.body, varyingFields: Variants.varyingFields(of: request, for: head),
            requestTime: requestTime, responseTime: responseTime)
    }
}
