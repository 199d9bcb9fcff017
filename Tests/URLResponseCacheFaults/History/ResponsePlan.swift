import AlcedoCore
import AlcedoHTTP
import FoundationEssentials
import TestSupport

@testable import AlcedoURLResponseCache

/// The directives of a response, as numbers, so that an oracle need not parse the header made from them.
struct ResponsePlan: Sendable {
    /// The directives of a `Cache-Control` or targeted field.
    struct Control: Sendable {
        var maxAge: Int?
        var sharedMaxAge: Int?
        var staleWhileRevalidate: Int?
        var staleIfError: Int?
        /// Directives without an argument.
        var names: Set<String> = []

        init(using random: inout SeededGenerator) {
            func some(_ limit: Int, oneIn chance: Int) -> Int? {
                Int.random(in: 0..<chance, using: &random) == 0 ? Int.random(in: 0...limit, using: &random) : nil
            }
            maxAge = Int.random(in: 0..<4, using: &random) > 0 ? Int.random(in: 0...60, using: &random) : nil
            sharedMaxAge = some(60, oneIn: 5)
            staleWhileRevalidate = some(40, oneIn: 5)
            staleIfError = some(60, oneIn: 6)
            for (name, chance) in [
                ("no-store", 12), ("no-cache", 12), ("private", 8), ("public", 6), ("must-revalidate", 7),
                ("proxy-revalidate", 12), ("immutable", 10),
            ] where Int.random(in: 0..<chance, using: &random) == 0 { names.insert(name) }
        }

        /// Returns the field's value in one of its many forms.
        func text(using random: inout SeededGenerator, isStructured: Bool) -> String {
            var directives = names.sorted()
            for (name, seconds) in [
                ("max-age", maxAge), ("s-maxage", sharedMaxAge), ("stale-while-revalidate", staleWhileRevalidate),
                ("stale-if-error", staleIfError),
            ] {
                guard let seconds else { continue }
                let isQuoted = !isStructured && Int.random(in: 0..<4, using: &random) == 0
                directives.append("\(name)=" + (isQuoted ? "\"\(seconds)\"" : "\(seconds)"))
            }
            if Bool.random(using: &random) { directives.append("x-unknown=\"no-store, max-age=0\"") }
            directives.shuffle(using: &random)
            guard !isStructured else { return directives.joined(separator: ", ") }
            if Bool.random(using: &random) {
                directives = directives.map { directive in
                    let name = directive.prefix { $0 != "=" }
                    return name.capitalized() + directive.dropFirst(name.count)
                }
            }
            return directives.joined(separator: [",", ", ", " ,\t", ",,"].randomElement(using: &random) ?? ",")
        }
    }

    var status = 200
    var control: Control?
    /// The same for a named cache. RFC 9213.
    var targetedControl: Control?
    /// Seconds from the response's Date, or nil without `Expires`.
    var expiresIn: Int?
    var hasUnreadableExpires = false
    /// Seconds before the response's Date.
    var modifiedAgo: Int?
    var age: Int?
    /// Seconds by which the server's clock is ahead, or nil without `Date`.
    var clockSkew: Int?
    var vary: [String] = []
    var hasTag = false

    init() {}

    init(using random: inout SeededGenerator) {
        func isOneIn(_ chance: Int) -> Bool { Int.random(in: 0..<chance, using: &random) == 0 }
        status = [200, 200, 200, 200, 203, 404].randomElement(using: &random) ?? 200
        if !isOneIn(5) { control = Control(using: &random) }
        if isOneIn(6) {
            targetedControl = Control(using: &random)
            // A targeted field without directives would be ignored.
            targetedControl?.maxAge = Int.random(in: 0...60, using: &random)
        }
        if isOneIn(4) {
            expiresIn = Int.random(in: -20...60, using: &random)
            hasUnreadableExpires = isOneIn(5)
        }
        if isOneIn(3) { modifiedAgo = Int.random(in: 0...600, using: &random) }
        if isOneIn(5) { age = Int.random(in: 0...20, using: &random) }
        if !isOneIn(8) { clockSkew = isOneIn(4) ? Int.random(in: -15...15, using: &random) : 0 }
        vary =
            [[], [], [], ["accept-language"], ["accept-language", "x-kind"], ["*"]].randomElement(using: &random) ?? []
        if vary == ["*"], !isOneIn(3) { vary = [] }
        hasTag = isOneIn(2)
    }

    /// Returns when the server made the response, by its own clock.
    func date(receivedAt now: Date) -> Date { now + TimeInterval(clockSkew ?? 0) }

    /// Returns the header of a response that arrives now.
    func fields(tag: String, receivedAt now: Date, using random: inout SeededGenerator) -> HTTPFields {
        let date = date(receivedAt: now)
        var fields: [HTTPFields.Field] = []
        if let control {
            let text = control.text(using: &random, isStructured: false)
            // Several lines are one list.
            if let comma = text.firstIndex(of: ","), !text.contains("\""), Bool.random(using: &random) {
                fields.append(.init("Cache-Control", String(text[..<comma])))
                fields.append(.init("cache-control", String(text[text.index(after: comma)...])))
            } else {
                fields.append(.init("Cache-Control", text))
            }
        }
        if let text = targetedControl?.text(using: &random, isStructured: true), !text.isEmpty {
            fields.append(.init("Test-Cache-Control", text))
        }
        if let expiresIn {
            let text = hasUnreadableExpires ? "0" : Self.text(of: date + TimeInterval(expiresIn), using: &random)
            fields.append(.init("Expires", text))
        }
        if let modifiedAgo {
            fields.append(.init("Last-Modified", HTTPDate.format(date - TimeInterval(modifiedAgo))))
        }
        if let age { fields.append(.init("Age", String(age))) }
        if clockSkew != nil { fields.append(.init("Date", HTTPDate.format(date))) }
        if !vary.isEmpty { fields.append(.init("Vary", vary.joined(separator: ", "))) }
        if hasTag { fields.append(.init("ETag", "\"\(tag)\"")) }
        fields.shuffle(using: &random)
        return HTTPFields(fields)
    }

    /// One of the three forms of a date.
    private static func text(of date: Date, using random: inout SeededGenerator) -> String {
        let text = HTTPDate.format(date)
        let parts = text.split(separator: " ")
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            let day = parts[1].first == "0" ? " " + parts[1].dropFirst() : String(parts[1])
            return "\(parts[0].dropLast()) \(parts[2]) \(day) \(parts[4]) \(parts[3])"
        case 1:
            let names = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
            let name = names.first { $0.hasPrefix(parts[0].dropLast()) } ?? ""
            return "\(name), \(parts[1])-\(parts[2])-\(parts[3].suffix(2)) \(parts[4]) GMT"
        default: return text
        }
    }
}

extension ResponsePlan: CustomStringConvertible {
    var description: String {
        let parts: [String?] = [
            "\(status)", control.map { "\($0)" }, targetedControl.map { "targeted \($0)" },
            expiresIn.map { hasUnreadableExpires ? "unreadable Expires" : "expires in \($0)" },
            modifiedAgo.map { "modified \($0) ago" }, age.map { "age \($0)" },
            clockSkew.map { $0 == 0 ? "" : "clock \($0) ahead" } ?? "no date", vary.isEmpty ? nil : "varies by \(vary)",
            hasTag ? "tagged" : nil,
        ]
        return parts.compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: "; ")
    }
}

extension ResponsePlan.Control: CustomStringConvertible {
    var description: String {
        let numbers = [
            ("max-age", maxAge), ("s-maxage", sharedMaxAge), ("stale-while-revalidate", staleWhileRevalidate),
            ("stale-if-error", staleIfError),
        ]
        return (names.sorted() + numbers.compactMap { name, seconds in seconds.map { "\(name)=\($0)" } })
            .joined(separator: ", ")
    }
}

extension Substring {
    fileprivate func capitalized() -> String { prefix(1).uppercased() + dropFirst() }
}
