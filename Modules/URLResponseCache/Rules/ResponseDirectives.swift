import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

/// The instructions of a response's head to a cache of a given role.
struct ResponseDirectives {
    /// The fields, in lower case, without which a stored response would have another meaning.
    static let representationFields: Set = [
        "vary", "content-encoding", "content-type", "content-range", "content-language", "content-length",
        "content-location", "location", "etag", "last-modified", "date", "expires", "cache-control",
    ]

    let control: CacheControl
    /// Whether a targeted field replaces `Cache-Control` and `Expires`. RFC 9213 section 2.2.
    let isTargeted: Bool
    private let isShared: Bool
    private let fields: HTTPFields

    init(_ fields: HTTPFields, role: CacheRole) {
        let targeted = role.targets.lazy.compactMap { CacheControl(targeted: $0, of: fields) }.first
        control = targeted ?? CacheControl(fields)
        isTargeted = targeted != nil
        isShared = role.isShared
        self.fields = fields
    }

    /// Whether the response must be validated before every use.
    ///
    /// `Pragma` has no defined meaning in a response, but servers that send `no-cache` in it intend this.
    var validatesAlways: Bool {
        isUnqualified("no-cache")
            || (control.isEmpty && !isTargeted && fields.list("Pragma", contains: "no-cache"))
    }

    /// Whether the response must not be used without validation when it is stale. RFC 9111 sections 5.2.2.2, 5.2.2.8
    /// and 5.2.2.10.
    var neverStale: Bool {
        control.contains("must-revalidate")
            || (isShared && (control.contains("proxy-revalidate") || control.contains("s-maxage")))
    }

    /// Whether a shared cache may store the response to a request with credentials. RFC 9111 section 3.5.
    var isShareable: Bool { ["public", "must-revalidate", "s-maxage"].contains(where: control.contains) }

    /// Whether the response to one user is for all users of the cache. In a private cache, `must-revalidate` alone does
    /// not say so: it usually accompanies `private`.
    var isForAllUsers: Bool {
        isShared ? isShareable : !isPrivate && ["public", "s-maxage"].contains(where: control.contains)
    }

    /// Whether only a private cache may store the response.
    var isPrivate: Bool { isUnqualified("private") }

    /// The fields, in lower case, that must not be used for later requests. RFC 9111 sections 5.2.2.4 and 5.2.2.7.
    var limitedFields: Set<String> {
        Set(
            (isShared ? ["no-cache", "private"] : ["no-cache"]).filter { !isUnqualified($0) }.flatMap(
                control.fieldNames))
    }

    /// Whether a directive applies to the whole response.
    ///
    /// A directive that names one of the ``representationFields`` counts as unqualified, as sections 5.2.2.4 and
    /// 5.2.2.7 allow.
    private func isUnqualified(_ name: String) -> Bool {
        control.containsUnqualified(name) || !Self.representationFields.isDisjoint(with: control.fieldNames(of: name))
    }

    /// Returns the freshness lifetime that the server specified, in seconds; nil if it specified none. The result is 0
    /// for an invalid value, and negative if the response had expired before it was sent. RFC 9111 section 4.2.1.
    ///
    /// - Parameters:
    ///   - date: The time at which the server generated the response.
    ///   - receivedAt: The time at which the response arrived.
    func explicitLifetime(date: Date, receivedAt: Date) -> TimeInterval? {
        let names = isShared ? ["s-maxage", "max-age"] : ["max-age"]
        if let seconds = names.lazy.compactMap({ control.seconds($0) }).first { return TimeInterval(seconds.orZero) }
        guard !isTargeted, fields.contains("Expires") else { return nil }
        // An invalid date, especially "0", means that the response has expired (section 5.3).
        guard let expires = fields.date("Expires", now: receivedAt) else { return 0 }
        // Negative if the response had expired before it was sent: it has been stale since then (section 4.2.4).
        return expires.timeIntervalSince(date)
    }

    /// Returns the number of seconds of a directive; 0 if the directive is missing or invalid.
    func window(_ name: String) -> TimeInterval { TimeInterval(control.seconds(name)?.orZero ?? 0) }
}
