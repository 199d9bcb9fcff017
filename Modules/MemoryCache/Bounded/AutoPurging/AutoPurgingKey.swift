import AlcedoCore

/// The name of an image in an ``AutoPurgingImageCache``: AFNetworking's identifier, and what is known beyond it.
///
/// An identifier is a URL and an additional identifier with nothing between them, so two different keys may share one.
/// What is known beyond the identifier keeps them from being taken for one another.
struct AutoPurgingKey: Sendable {
    /// Compared by its bytes.
    let identifier: ResourceKey
    /// nil when only the identifier is known.
    private let resource: ResourceKey?
    /// nil when the additional identifier was the caller's.
    private let key: ImageKey?

    init(identifier: String) {
        self.identifier = ResourceKey(identifier)
        resource = nil
        key = nil
    }

    init(_ key: ImageKey) {
        identifier = key.additionalIdentifier.map { ResourceKey(key.resource.description + $0) } ?? key.resource
        resource = key.resource
        self.key = key
    }

    /// - Parameter additionalIdentifier: nil for that of the request's own key.
    init(_ request: ImageRequest, _ additionalIdentifier: String?) {
        guard let additionalIdentifier else {
            self.init(request.key)
            return
        }
        self.init(request.resource ?? request.source.resource, additionalIdentifier)
    }

    private init(_ resource: ResourceKey, _ additionalIdentifier: String) {
        identifier = ResourceKey(resource.description + additionalIdentifier)
        self.resource = resource
        key = nil
    }

    /// Whether an image that was stored under `other` is found under this key: no part that both know differs.
    func finds(_ other: AutoPurgingKey) -> Bool {
        if let key, let otherKey = other.key { return key == otherKey }
        guard let resource, let otherResource = other.resource else { return identifier == other.identifier }
        return identifier == other.identifier && resource == otherResource
    }

    func isOf(_ resource: ResourceKey) -> Bool { (self.resource ?? identifier) == resource }
}
