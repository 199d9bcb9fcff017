import AlcedoURLResponseCache

/// For which roles of a cache a row of a table holds.
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

    /// Every role that tables are tried in.
    static let all: [CacheRole] = [.private, .shared()]
}
