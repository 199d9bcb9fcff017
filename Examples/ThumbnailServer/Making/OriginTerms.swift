import Alcedo
import FoundationEssentials

/// What an origin says of the use of its answer by a shared cache.
struct OriginTerms: Sendable, Equatable {
    /// Whether anything made of it may be kept, here or by clients.
    var allowsStoring = true
    /// Until when the answer is fresh; nil: the origin does not say.
    var freshUntil: Date?

    init(allowsStoring: Bool = true, freshUntil: Date? = nil) {
        self.allowsStoring = allowsStoring
        self.freshUntil = freshUntil
    }

    /// Source: RFC 9111 sections 4.2.1, 5.2.2 and 5.3.
    init(_ download: Download, now: Date) {
        guard let fields = download.head?.fields else { return }
        let directives = Self.directives(fields)
        allowsStoring = directives["no-store"] == nil && directives["private"] == nil
        guard directives["no-cache"] == nil else {
            freshUntil = now
            return
        }
        let age = Double(DeltaSeconds(fields["Age"] ?? "").orZero)
        if let seconds = directives["s-maxage"] ?? directives["max-age"] {
            freshUntil = now.addingTimeInterval(Double(DeltaSeconds(seconds).orZero) - age)
        } else if let text = fields["Expires"] {
            // A date that is none means that it is over.
            let expiry = HTTPDate.parse(text, now: now) ?? now
            let date = fields["Date"].flatMap { HTTPDate.parse($0, now: now) } ?? now
            freshUntil = now.addingTimeInterval(expiry.timeIntervalSince(date) - age)
        }
    }

    /// Until when what is made of it may be used, if at most for `longest`; nil: nobody may keep it.
    func freshUntil(from now: Date, atMost longest: Duration) -> Date? {
        guard allowsStoring else { return nil }
        let limit = now.addingTimeInterval(Double(longest.milliseconds) / 1000)
        return min(limit, freshUntil ?? limit)
    }

    private static func directives(_ fields: HTTPFields) -> [String: String] {
        var directives: [String: String] = [:]
        for line in fields.values(of: "Cache-Control") {
            for member in line.split(separator: ",") {
                let parts = member.filter { !" \t\"".contains($0) }.split(separator: "=", maxSplits: 1)
                guard let name = parts.first?.lowercased(), directives[name] == nil else { continue }
                directives[name] = parts.count > 1 ? String(parts[1]) : ""
            }
        }
        return directives
    }
}
