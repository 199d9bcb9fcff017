import AlcedoCore
import FoundationEssentials

/// Whether the caller's own copy is as good as what is stored. Source: RFC 9111 section 4.3.2, RFC 9110 section 13.
enum Precondition {
    /// Whether the request's condition says that the caller needs no body.
    static func isMet(by stored: StoredResponse, _ request: HTTPRequest) -> Bool {
        guard stored.head.status == 200 else { return false }
        let tags = request.fields.values(of: "If-None-Match")
        if !tags.isEmpty {
            if tags.contains(where: { $0.trimmingBlanks == "*" }) { return true }
            guard let own = stored.entityTag else { return false }
            return EntityTag.list(tags).contains { $0.matchesWeakly(own) }
        }
        guard let since = request.fields.date("If-Modified-Since", now: stored.responseTime) else { return false }
        return (stored.lastModified ?? stored.terms.date) <= since
    }

    /// Whether a range may be taken from what is stored: the request makes no condition, or its condition holds.
    /// RFC 9110 section 13.1.5.
    static func allowsRange(of stored: StoredResponse, _ request: HTTPRequest) -> Bool {
        guard let condition = request.fields["If-Range"] else { return true }
        if let date = HTTPDate.parse(condition, now: stored.responseTime) {
            return stored.strongDate == date
        }
        guard let tag = EntityTag(condition), let own = stored.entityTag else { return false }
        return tag.matchesStrongly(own)
    }
}

extension String {
    fileprivate var trimmingBlanks: Substring { self[...].trimmedOfBlanks }
}
