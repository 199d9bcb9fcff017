/// What an object of a ``JSONLine`` holds.
public enum JSONValue: Encodable {
    case text(String)
    case texts([String])
    case number(Int)
    case null

    /// ``null`` for nil.
    public init(_ text: String?) { self = text.map { .text($0) } ?? .null }

    /// ``null`` for nil.
    public init(_ number: Int?) { self = number.map { .number($0) } ?? .null }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .texts(let texts): try container.encode(texts)
        case .number(let number): try container.encode(number)
        case .null: try container.encodeNil()
        }
    }
}
