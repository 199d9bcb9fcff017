import AlcedoCore

extension ImageDecodingError.Code {
    /// Whether the bytes are no image for anybody, so that other bytes may help. What exceeds a request's limits, or is
    /// in a variant that nobody decodes, comes the same from everywhere.
    var meansDamage: Bool {
        switch self {
        case .empty, .unknownFormat, .truncated, .corrupt: true
        case .unsupportedVariant, .exceedsLimit, .outOfMemory: false
        }
    }
}
