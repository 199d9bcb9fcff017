import AlcedoCore

/// What a change of a cache concerns.
enum ChangeScope: Sendable {
    /// All variants of it: whoever removes a resource does not know them one by one.
    case resource(ResourceKey)
    case everything
}
