/// Why a line is no call.
struct CallError: Error, Sendable {
    /// Where an answer can go; nil when the line has no name for it.
    var id: CallID?
    /// One sentence.
    var message: String
}

extension DecodingError {
    /// The place, and what is wrong there.
    var sentence: String {
        let context =
            switch self {
            case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
                .dataCorrupted(let context):
                context
            @unknown default: Context(codingPath: [], debugDescription: "\(self)")
            }
        let place = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
        return place.isEmpty ? context.debugDescription : "\(place): \(context.debugDescription)"
    }
}
