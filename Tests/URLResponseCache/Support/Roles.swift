import AlcedoURLResponseCache

/// The roles of a cache to which a row of a table applies.
enum Roles: Sendable {
    case both, privateOnly, sharedOnly, neither

    func contains(_ role: CacheRole) -> Bool {
        switch self {
        case .both: true
        case .privateOnly: role == .private
        case .sharedOnly: role != .private
        case .neither: false
        }
    }

    /// Every role, for tests of all.
    static let all: [CacheRole] = [.private, .shared()]
}
