import AlcedoCore
import FoundationEssentials

/// How entries are named on the server.
struct RedisNames: Sendable {
    let prefix: String

    func entry(_ key: ImageKey) -> Data { entry(named: key.fileName) }

    func entry(named name: String) -> Data { Data("\(prefix)e:\(name)".utf8) }

    /// The names of a resource's entries, sorted by when each is over.
    func variants(of resource: ResourceKey) -> Data { Data("\(prefix)v:\(ImageKey(resource).fileName)".utf8) }

    /// The kinds of names: entries, and the notes that say which a resource has.
    static let kinds = ["e:", "v:"]

    /// A pattern that matches all names of a kind. Those of a longer prefix have other kinds where this one's stand.
    func pattern(_ kind: String) -> Data {
        let escaped = prefix.map { "*?[]\\^-".contains($0) ? "\\\($0)" : "\($0)" }.joined()
        return Data("\(escaped)\(kind)*".utf8)
    }
}
