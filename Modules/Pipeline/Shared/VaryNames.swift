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
    private struct Entry: Sendable {
        var fields: VaryingFields
        /// Whether no response has named the fields, but requests for which the app has stored images.
        var isOfApp = false
    }

    private let table = Locked(RecentTable<ResourceKey, Entry>(limit: 4_096))
    /// Whether the table has entries. Read at each lookup in memory, most of which need no more.
    private let hasNames = Atomic(false)

    var isEmpty: Bool { !hasNames.load(ordering: .acquiring) }

    /// The fields by which a resource varies; nil if the table does not know the resource.
    subscript(resource: ResourceKey) -> VaryingFields? { isEmpty ? nil : table.withLock { $0[resource]?.fields } }

    /// Records the fields by which a response varies. Returns whether they differ from those of the earlier responses.
    /// A resource that the table does not know counts as one that does not vary.
    func record(_ fields: VaryingFields, of resource: ResourceKey) -> Bool {
        if isEmpty, fields == .none { return false }
        return table.withLock { table in
            let known = table[resource]
            guard known?.fields ?? .none != fields || known?.isOfApp == true else { return false }
            set(Entry(fields: fields), for: resource, in: &table)
            return known?.fields ?? .none != fields
        }
    }

    /// Records fields from disk, unless a response has named others since.
    func learn(_ fields: VaryingFields, of resource: ResourceKey) {
        table.withLock { table in
            if let known = table[resource], known.fields != .none { return }
            set(Entry(fields: fields), for: resource, in: &table)
        }
    }

    /// Returns the fields under whose values an image from the app is stored: those of the responses, or else all own
    /// fields of the requests for which the app has stored images.
    func recordImage(of own: VaryingFields, for resource: ResourceKey) -> VaryingFields {
        if isEmpty, own == .none { return .none }
        return table.withLock { table in
            let known = table[resource]
            if let known, !known.isOfApp { return known.fields }
            let fields = known.map { own.union($0.fields) } ?? own
            if fields != .none { set(Entry(fields: fields, isOfApp: true), for: resource, in: &table) }
            return fields
        }
    }

    private func set(_ entry: Entry, for resource: ResourceKey, in table: inout RecentTable<ResourceKey, Entry>) {
        table.set(entry, for: resource)
        hasNames.store(true, ordering: .releasing)
    }
}

/// A change by which the responses of a resource began to vary by other fields.
struct Variation: Sendable {
    let fields: VaryingFields
    let step: GenerationStep
    /// The uptime of the change.
    let time: Duration
}

/// The entry on disk under the plain key of an original whose responses vary. It has no bytes, and its metadata holds
/// the names of the fields, so that the next process looks under the right key.
struct VaryMarker: Error {
    private static let prefix = "varies by "

    let fields: VaryingFields

    /// Returns the marker in an entry; nil if the entry is not a marker.
    init?(_ entry: CachedData) {
        guard entry.data.isEmpty else { return nil }
        self.init(metadata: entry.metadata)
    }

    /// Returns the marker that an entry with this metadata is if it has no bytes; nil if it is not a marker.
    init?(metadata: Data) {
        guard metadata.count <= 8_192, let text = String(validating: metadata, as: UTF8.self),
            text.hasPrefix(Self.prefix)
        else { return nil }
        let names = text.dropFirst(Self.prefix.count).split(separator: ",").map(String.init)
        fields = VaryingFields(names)
        guard fields != .none, fields != .everything else { return nil }
    }

    /// The entry for fields; nil if nothing is stored under them.
    static func entry(_ fields: VaryingFields) -> CachedData? {
        guard let names = fields.names, !names.isEmpty else { return nil }
        return CachedData(Data(), metadata: Data((prefix + names.joined(separator: ",")).utf8))
    }
}
