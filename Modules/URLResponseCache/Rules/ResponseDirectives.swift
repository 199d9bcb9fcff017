import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

/// What the head of an answer tells a cache of a given role to do.
struct ResponseDirectives {
    /// Fields without which what is stored would mean something else. In lower case.
    static let representationFields: Set = [
        "vary", "content-encoding", "content-type", "content-range", "content-language", "content-length",
        "content-location", "location", "etag", "last-modified", "date", "expires", "cache-control",
    ]

    let control: CacheControl
    /// Whether a targeted field took the place of `Cache-Control` and `Expires`. RFC 9213 section 2.2.
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

    /// Whether the answer is never used without asking. A `Pragma` has no meaning in an answer, but who sends it
    /// means this.
    var validatesAlways: Bool {
        isUnqualified("no-cache")
            || (control.isEmpty && !isTargeted && fields.list("Pragma", contains: "no-cache"))
    }

    /// RFC 9111 sections 5.2.2.2, 5.2.2.8 and 5.2.2.10.
    var neverStale: Bool {
        control.contains("must-revalidate")
            || (isShared && (control.contains("proxy-revalidate") || control.contains("s-maxage")))
    }

    /// Whether a shared cache may store an answer that was asked for with credentials. RFC 9111 section 3.5.
    var isShareable: Bool { ["public", "must-revalidate", "s-maxage"].contains(where: control.contains) }

    /// Whether only one user's cache may keep the answer.
    var isPrivate: Bool { isUnqualified("private") }

    /// Fields that a later answer must not have, in lower case. RFC 9111 sections 5.2.2.4 and 5.2.2.7.
    var limitedFields: Set<String> {
        Set(
            (isShared ? ["no-cache", "private"] : ["no-cache"]).filter { !isUnqualified($0) }.flatMap(
                control.fieldNames))
    }

    /// Whether a directive is not limited to some fields. One that names a field which gives the others their meaning is
    /// not: sections 5.2.2.4 and 5.2.2.7 let a cache take it as one without names.
    private func isUnqualified(_ name: String) -> Bool {
        control.containsUnqualified(name) || !Self.representationFields.isDisjoint(with: control.fieldNames(of: name))
    }

    /// The lifetime that the server named, in seconds, below nought for what was sent too late; nil when it named none. RFC 9111 section 4.2.1.
    ///
    /// - Parameter date: When the server made the answer.
    func explicitLifetime(date: Date, receivedAt: Date) -> TimeInterval? {
        let names = isShared ? ["s-maxage", "max-age"] : ["max-age"]
        if let seconds = names.lazy.compactMap({ control.seconds($0) }).first { return TimeInterval(seconds.orZero) }
        guard !isTargeted, fields.contains("Expires") else { return nil }
        // An invalid date, "0" above all, means that it has expired (section 5.3).
        guard let expires = fields.date("Expires", now: receivedAt) else { return 0 }
        // Below nought when it had expired before it was sent: from then on it has been stale (section 4.2.4).
        return expires.timeIntervalSince(date)
    }

    /// A directive's number of seconds; 0 when there is none that can be read.
    func window(_ name: String) -> TimeInterval { TimeInterval(control.seconds(name)?.orZero ?? 0) }
}
