import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials
import Synchronization

/// The request fields by which the last response of each resource varied.
///
/// What varies is stored under keys that contain the values of these fields, and never under the plain key. A resource
/// that the table has forgotten is therefore a miss, and never an image for another request.
final class VaryNames: Sendable {
    private let table = Locked(RecentTable<ResourceKey, VaryingFields>(limit: 4_096))
    /// Whether the table has entries. Read at each lookup in memory, most of which need no more.
    private let hasNames = Atomic(false)

    var isEmpty: Bool { !hasNames.load(ordering: .acquiring) }

    /// The fields by which a resource varies; nil if the table does not know the resource.
    subscript(resource: ResourceKey) -> VaryingFields? { isEmpty ? nil : table.withLock { $0[resource] } }

    /// Records the fields by which a response varies. Returns whether they differ from those of the earlier responses.
    /// A resource that the table does not know counts as one that does not vary.
    func record(_ fields: VaryingFields, of resource: ResourceKey) -> Bool {
        if isEmpty, fields == .none { return false }
        return table.withLock { table in
            guard table[resource] ?? .none != fields else { return false }
            table.set(fields, for: resource)
            hasNames.store(true, ordering: .releasing)
            return true
        }
    }

    /// Records fields from disk, unless a response has been seen since.
    func learn(_ fields: VaryingFields, of resource: ResourceKey) {
        table.withLock { table in
            guard table[resource] == nil else { return }
            table.set(fields, for: resource)
            hasNames.store(true, ordering: .releasing)
        }
    }
}

/// The entry on disk under the plain key of an original whose responses vary. It has no bytes, and its metadata holds
/// the names of the fields, so that the next process looks under the right key.
struct VaryMarker: Error {
    private static let prefix = "varies by "

    let fields: VaryingFields

    /// Returns the marker in an entry; nil if the entry is not a marker.
    init?(_ entry: CachedData) {
        guard entry.data.isEmpty, entry.metadata.count <= 8_192,
            let text = String(validating: entry.metadata, as: UTF8.self),
            text.hasPrefix(Self.prefix)
        else { return nil }
        let names = text.dropFirst(Self.prefix.count).split(separator: ",").map(String.init)
        fields = VaryingFields(names)
        guard !names.isEmpty, fields != .everything else { return nil }
    }

    /// The entry for fields; nil if nothing is stored under them.
    static func entry(_ fields: VaryingFields) -> CachedData? {
        guard let names = fields.names, !names.isEmpty else { return nil }
        return CachedData(Data(), metadata: Data((prefix + names.joined(separator: ",")).utf8))
    }
}
