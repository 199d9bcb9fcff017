import AlcedoCore
import AlcedoRuntime

/// The images that loads have stored in memory, from which an observed pipeline tells the reasons of misses.
///
/// Holds the 16 most recent images of each of the last 1,024 resources.
final class MemoryHistory: Sendable {
    private struct Entry: Sendable {
        let key: ImageKey
        let isIntact: Bool
        /// The uptime at which the image expires; nil if its load set no time to live.
        let expiry: Duration?
    }

    /// The properties of an image by which keys of one resource differ.
    private enum Aspect: CaseIterable {
        case identity, version, fields, processors, options, size

        /// The aspect of a part of a key's variant.
        init(of part: Substring) {
            let name = part.prefix { $0 != "=" }
            switch name {
            case "id": self = .identity
            case "file": self = .version
            case "vary": self = .fields
            case "process": self = .processors
            case "target": self = .size
            default: self = .options
            }
        }

        /// The reason of a miss if memory has an image that differs in this aspect. An image of another identity is
        /// another one, and gives no reason.
        var reason: CacheMissReason? {
            switch self {
            case .identity: nil
            case .version: .otherVersion
            case .fields: .otherFields
            case .processors: .otherProcessors
            case .options: .otherOptions
            case .size: .otherSize
            }
        }
    }

    private static let imageLimit = 16

    private let table = Locked(MemoryHistory.emptyTable)
    private let clock: any TimeSource

    init(clock: any TimeSource) { self.clock = clock }

    private static var emptyTable: RecentTable<ResourceKey, [Entry]> { RecentTable(limit: 1_024) }

    /// Records a store. An image that its cache does not take counts as evicted.
    func record(_ key: ImageKey, isIntact: Bool, timeToLive: Duration?) {
        let entry = Entry(key: key, isIntact: isIntact, expiry: timeToLive.map { clock.uptime + $0 })
        change(key.resource) { entries in
            entries.removeAll { $0.key == key }
            if entries.count == Self.imageLimit { entries.removeFirst() }
            entries.append(entry)
        }
    }

    func remove(_ key: ImageKey) { change(key.resource) { $0.removeAll { $0.key == key } } }

    func removeResource(_ resource: ResourceKey) { change(resource) { $0 = [] } }

    func removeAll() { table.withLock { $0 = Self.emptyTable } }

    private func change(_ resource: ResourceKey, _ body: (inout [Entry]) -> Void) {
        table.withLock { table in
            var entries = table[resource] ?? []
            let wasEmpty = entries.isEmpty
            body(&entries)
            if !wasEmpty || !entries.isEmpty { table.set(entries, for: resource) }
        }
    }

    private func entries(_ resource: ResourceKey) -> [Entry] { table.withLock { $0[resource] ?? [] } }

    /// Returns the reason why memory does not supply an image that was stored; nil if it was not.
    ///
    /// - Parameters:
    ///   - key: The key of the image.
    ///   - isStored: Whether the cache has the image.
    func loss(of key: ImageKey, isStored: Bool) -> CacheMissReason? {
        guard let entry = entries(key.resource).last(where: { $0.key == key }) else { return nil }
        // An intact image that is stored now was stored after the lookup.
        if isStored { return entry.isIntact ? .notStored : .damaged }
        return entry.expiry.map { $0 <= clock.uptime } == true ? .expired : .evicted
    }

    /// Returns how a missing image differs from the most similar one of its resource that memory has; nil if memory has
    /// none.
    ///
    /// - Parameters:
    ///   - key: The key of the missing image.
    ///   - isStored: Whether the cache has the image of a key.
    func difference(of key: ImageKey, fromStored isStored: (ImageKey) -> Bool) -> CacheMissReason? {
        guard let wanted = Self.aspects(of: key) else { return nil }
        var best: [Aspect]?
        for entry in entries(key.resource) where isStored(entry.key) {
            guard let stored = Self.aspects(of: entry.key) else { continue }
            let differences = Aspect.allCases.filter { wanted[$0] != stored[$0] }
            if !differences.isEmpty, differences.count < best?.count ?? .max, !differences.contains(.identity) {
                best = differences
            }
        }
        return best?.first?.reason
    }

    /// Returns the parts of a key by aspect; nil for a key of another form.
    private static func aspects(of key: ImageKey) -> [Aspect: [Substring]]? {
        if key.variant.isEmpty { return [:] }
        return key.parts.map { Dictionary(grouping: $0, by: Aspect.init) }
    }
}
