/// A dictionary of a structured field, as far as targeted cache control needs it: inner lists and parameters are checked
/// and dropped.
///
/// One error makes the whole field unreadable, as the specification has it. Source: RFC 9651 section 4.2.2.
struct StructuredDictionary {
    /// Most members; no server means more.
    private static let limit = 256

    /// In the order of the field; a key that comes twice counts where it came first, with its last value.
    private(set) var members: [(key: String, value: StructuredValue)] = []

    init?(_ text: String) {
        var parser = StructuredFieldParser(text)
        parser.skipSpaces()
        while !parser.isAtEnd {
            guard members.count < Self.limit, let key = parser.key(), let value = parser.memberValue() else {
                return nil
            }
            if let index = members.firstIndex(where: { $0.key == key }) {
                members[index].value = value
            } else {
                members.append((key, value))
            }
            parser.skipBlanks()
            if parser.isAtEnd { return }
            guard parser.take(UInt8(ascii: ",")) else { return nil }
            parser.skipBlanks()
            // A comma with nothing after it.
            if parser.isAtEnd { return nil }
        }
    }
}
