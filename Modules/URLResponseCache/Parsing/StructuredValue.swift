/// The value of a member of a structured dictionary, as far as targeted cache control needs it.
enum StructuredValue: Equatable {
    case integer(Int)
    case boolean(Bool)
    case token(String)
    case string(String)
    /// A decimal, bytes, a date, an inner list: nothing that a directive has as its argument.
    case other

    /// What would stand after "=" in `Cache-Control`; nil for a directive without an argument.
    var directiveArgument: String? {
        switch self {
        case .integer(let number): String(number)
        case .token(let text), .string(let text): text
        case .boolean: nil
        // No number of seconds can be read from it.
        case .other: "?"
        }
    }
}
