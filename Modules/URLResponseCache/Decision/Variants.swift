import AlcedoCore
import FoundationEssentials

/// The answers stored for one URL, one for each set of request fields that `Vary` names. Source: RFC 9111 section 4.1.
struct Variants {
    /// Most answers kept for one URL.
    static let limit = 16

    private(set) var responses: [StoredResponse]

    init(_ responses: [StoredResponse]) { self.responses = responses }

    /// The names in an answer's `Vary`, in lower case; nil when it varies on more than fields: `*`, or what is no name.
    static func varyingNames(of head: HTTPResponseHead) -> [String]? {
        let names = head.fields.members(of: "Vary")
        let isReadable = names.allSatisfy { name in
            name != "*" && name.utf8.allSatisfy { tokenBytes.contains($0) }
        }
        return isReadable ? names : nil
    }

    /// RFC 9110 section 5.6.2, without upper case.
    private static let tokenBytes = Set("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz".utf8)

    /// The fields of a request that an answer's `Vary` names, each on one line.
    static func varyingFields(of request: HTTPRequest, for head: HTTPResponseHead) -> HTTPFields {
        var fields = HTTPFields()
        for name in varyingNames(of: head) ?? [] { fields[name] = request.fields[name] }
        return fields
    }

    /// The newest answer that was made for such a request.
    func selected(for request: HTTPRequest) -> StoredResponse? {
        responses.filter { Self.matches($0, request) }.max { $0.selectionDate < $1.selectionDate }
    }

    /// Removes the answers for such a request.
    mutating func remove(for request: HTTPRequest) { responses.removeAll { Self.matches($0, request) } }

    /// Puts an answer in the place of the older ones for such a request; drops it when there is a newer one.
    ///
    /// Returns whether it was added.
    mutating func add(_ new: StoredResponse, for request: HTTPRequest, now: Date) -> Bool {
        // One from the future is not newer: the clock was wrong then.
        let isLate = responses.contains {
            Self.matches($0, request) && $0.responseTime > new.responseTime && $0.responseTime <= now
        }
        guard !isLate else { return false }
        remove(for: request)
        responses.append(new)
        if responses.count > Self.limit {
            responses.sort { $0.responseTime > $1.responseTime }
            responses.removeLast(responses.count - Self.limit)
        }
        return true
    }

    private static func matches(_ stored: StoredResponse, _ request: HTTPRequest) -> Bool {
        guard let names = varyingNames(of: stored.head) else { return false }
        return stored.head.status == 200 && stored.head.url == request.storageURL
            && names.allSatisfy { stored.varyingFields[$0] == request.fields[$0] }
    }
}

extension StoredResponse {
    fileprivate var selectionDate: Date { Freshness.date(of: head, receivedAt: responseTime) }
}
