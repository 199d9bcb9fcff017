import AlcedoCore

extension EntityTag {
    /// The tags of a list, such as `If-None-Match` has; what is no tag is left out. Commas within quotes are part of a
    /// tag.
    static func list(_ lines: [String]) -> [EntityTag] {
        lines.flatMap { QuotedList.members(of: $0, hasEscapes: false) }.compactMap { EntityTag(String($0)) }
    }
}
