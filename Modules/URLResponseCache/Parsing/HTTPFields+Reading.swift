import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

extension HTTPFields {
    /// Returns the members of a comma-separated list of tokens, in lower case.
    func members(of name: String) -> [String] {
        values(of: name).flatMap { $0.split(separator: ",") }.map { $0.trimmingBlanks.lowercased() }
            .filter { !$0.isEmpty }
    }

    /// Returns the date of a field with exactly one line. Returns nil if the field has no line, several lines or no
    /// valid date.
    func date(_ name: String, now: Date) -> Date? {
        let lines = values(of: name)
        return lines.count == 1 ? HTTPDate.parse(lines[0], now: now) : nil
    }

    /// Whether the field is present.
    func contains(_ name: String) -> Bool { !values(of: name).isEmpty }

    /// Returns the fields without those of the given names, which must be in lower case.
    func removing(_ names: Set<String>) -> HTTPFields {
        HTTPFields(fields.filter { !names.contains($0.name.lowercased()) })
    }

    /// The entity tag of the `ETag` field; nil unless the field has exactly one line with a valid tag. Source: RFC 9110
    /// section 8.8.3.
    var entityTag: EntityTag? {
        let lines = values(of: "ETag")
        return lines.count == 1 ? EntityTag(lines[0]) : nil
    }
}
