import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

extension HTTPFields {
    /// The members of a comma-separated list of tokens, in lower case.
    func members(of name: String) -> [String] {
        values(of: name).flatMap { $0.split(separator: ",") }.map { $0.trimmingBlanks.lowercased() }
            .filter { !$0.isEmpty }
    }

    /// The date of a field that has one line; nil when there is no line, or more than one, or no date in it.
    func date(_ name: String, now: Date) -> Date? {
        let lines = values(of: name)
        return lines.count == 1 ? HTTPDate.parse(lines[0], now: now) : nil
    }

    /// Whether the field is there, in any number of lines.
    func contains(_ name: String) -> Bool { !values(of: name).isEmpty }

    /// Without the fields of these names, given in lower case.
    func removing(_ names: Set<String>) -> HTTPFields {
        HTTPFields(fields.filter { !names.contains($0.name.lowercased()) })
    }

    /// The entity tag, when there is exactly one. Source: RFC 9110 section 8.8.3.
    var entityTag: EntityTag? {
        let lines = values(of: "ETag")
        return lines.count == 1 ? EntityTag(lines[0]) : nil
    }
}

extension EntityTag {
    /// The tags of a list, such as `If-None-Match` has; what is no tag is left out. Commas within quotes are part of a
    /// tag.
    static func list(_ lines: [String]) -> [EntityTag] {
        lines.flatMap { QuotedList.members(of: $0, hasEscapes: false) }.compactMap { EntityTag(String($0)) }
    }
}
