import AlcedoRuntime

/// The request fields by which responses vary (`Vary`). Source: RFC 9111 section 4.1.
///
/// `Accept-Encoding` is left out. Transports decode the codings that they request, and a request with a value of its
/// own has another key.
package enum VaryingFields: Sendable, Hashable {
    /// Fields by name, in lower case and sorted. Responses to requests with equal values are equal.
    case fields([String])
    /// More than fields (`*`), more than ``limit`` fields, or an invalid name. No response may be used for another
    /// request.
    case everything

    /// No fields: a response is usable for every request for its resource.
    package static let none = Self.fields([])
    /// The maximum number of names.
    package static let limit = 32

    /// Creates the fields from names in any case and order.
    package init(_ names: some Sequence<String>) {
        var unique = Set(names.map { $0.lowercased() })
        guard unique.count <= Self.limit, unique.allSatisfy({ $0 != "*" && $0.isToken }) else {
            self = .everything
            return
        }
        unique.remove("accept-encoding")
        self = .fields(unique.sorted())
    }

    /// Creates the fields that a response names in `Vary`. If it is for one user, or for one use (`private` or
    /// `no-store`), the caller's own fields count as well: servers that tell users apart by a field of their own often
    /// do not name it.
    package init(of response: HTTPFields) {
        let isForOneUser = ["private", "no-store"].contains { response.list("Cache-Control", contains: $0) }
        let own = isForOneUser ? [HTTPRequest.Audience.ownFieldsName] : []
        let lines = response.values(of: "Vary")
        // Most responses name none.
        guard !lines.isEmpty else {
            self = .fields(own)
            return
        }
        self.init(
            lines.flatMap { $0.split(separator: ",") }.map { String($0.trimmingBlanks) }.filter { !$0.isEmpty } + own)
    }

    /// Creates the fields of a request that its key leaves out.
    package init(leftOutOfKeyOf request: HTTPRequest) {
        self.init(request.fieldNamesOutsideKey)
    }

    /// The names; nil for ``everything``.
    package var names: [String]? { if case .fields(let names) = self { names } else { nil } }

    /// Returns the fields by which a response varies that needs two exchanges, for example because of a redirect.
    package func union(_ other: Self) -> Self {
        guard case .fields(let names) = self, case .fields(let others) = other else { return .everything }
        if others.isEmpty { return self }
        return names.isEmpty ? other : Self(names + others)
    }

    /// Returns the fields by which the response to the first request varies, if it is the response to a later request
    /// that the first one led to.
    ///
    /// Caches know the values of the first request only. So the result is ``everything`` if the later request has other
    /// values for these fields, or other credentials. Fields that the later request lacks, for example because a
    /// redirect leads to another origin, do not matter.
    package func asSeen(from first: HTTPRequest, sending later: HTTPRequest) -> Self {
        guard case .fields(let names) = self,
            first.fields != later.fields || first.credentials != later.credentials
        else { return self }
        let isKnown = HTTPRequest.distinguishingNames.union(names).allSatisfy { name in
            guard let value = FieldNormalization.value(of: name, in: later) else { return true }
            return value == FieldNormalization.value(of: name, in: first)
        }
        return isKnown ? self : .everything
    }

    /// Returns a digest of the names and of the values that a request has for them, the same in every process and
    /// release. Requests with equal digests may share a response. All fields of the request count for ``everything``.
    package func digest(of request: HTTPRequest) -> String {
        let names = names ?? Set(request.fields.map { $0.name.lowercased() }).sorted()
        var digest = SHA256()
        for name in names {
            // The length distinguishes a missing field from an empty one, and two fields from one with a line break.
            let value = FieldNormalization.value(of: name, in: request)
            digest.update("\(name):\(value.map { String($0.utf8.count) } ?? "none"):\(value ?? "")\n")
        }
        return (self == .everything ? "*" : "") + digest.finalizedHexadecimal()
    }
}

extension HTTPRequest {
    /// The fields that identify a user or select a representation or a part of it. Requests that differ in one of them
    /// request different resources.
    package static let distinguishingFields = [
        "Authorization", "Cookie", "Accept", "Accept-Language", "Accept-Encoding", "Range", "If-Match", "If-None-Match",
        "If-Modified-Since", "If-Unmodified-Since", "If-Range",
    ]
    fileprivate static let distinguishingNames = Set(distinguishingFields.map { $0.lowercased() })

    /// The names of the fields that the key of the request leaves out, in lower case and sorted, each one once.
    var fieldNamesOutsideKey: [String] {
        Set(fields.map { $0.name.lowercased() }).subtracting(Self.distinguishingNames).sorted()
    }
}
