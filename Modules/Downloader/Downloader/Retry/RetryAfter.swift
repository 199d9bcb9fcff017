import AlcedoCore
import FoundationEssentials

/// How long a server asks to be left alone. Source: RFC 9110 section 10.2.3.
enum RetryAfter {
    /// Nil when the server does not say, or nothing that makes sense; a date that has passed is no time.
    static func delay(in fields: HTTPFields, now: Date) -> Duration? {
        let lines = fields.values(of: "Retry-After")
        // The same thing said twice, as some proxies do, is said once.
        guard let line = lines.first, lines.allSatisfy({ $0 == line }) else { return nil }
        if case .value(let seconds) = DeltaSeconds(line) { return .seconds(seconds) }
        guard let date = HTTPDate.parse(line, now: now) else { return nil }
        return .seconds(min(max(0, date.timeIntervalSince(now)), Double(DeltaSeconds.limit)))
    }
}
