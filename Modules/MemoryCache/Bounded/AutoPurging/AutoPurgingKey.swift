import AlcedoCore

/// What an ``AutoPurgingImageCache`` stores an image under: a text of the caller's, or a key. One never stands for the other.
enum AutoPurgingKey: Hashable, Sendable, GroupedKey {
    case identifier(String)
    case key(ImageKey)

    /// A key's resource; an identifier is alone in its group.
    var group: AutoPurgingKey {
        switch self {
        case .identifier: self
        case .key(let key): .key(key.original)
        }
    }
}
