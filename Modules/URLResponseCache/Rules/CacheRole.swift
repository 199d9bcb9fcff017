/// For whom a cache keeps answers. Source: RFC 9111 section 1.
public enum CacheRole: Sendable, Hashable {
    /// For one user: an app. What is marked `private` may be stored.
    case `private`
    /// For many users: a server. Nothing that was meant for one of them reaches another.
    ///
    /// - Parameter targets: The targeted fields that this cache obeys before `Cache-Control`, the most specific first,
    ///   such as `CDN-Cache-Control`. Source: RFC 9213.
    case shared(targets: [String] = [])

    var isShared: Bool { self != .private }

    var targets: [String] { if case .shared(let targets) = self { targets } else { [] } }
}
