package import AlcedoCore
package import AlcedoHTTP
import AlcedoRuntime
package import FoundationEssentials

/// Keeps HTTP answers in a fast store before a large one: memory before disk.
///
/// What is found in the large one is kept in the fast one from then on; what is stored or removed is so in both, in the
/// large one first: what is read from there after a change has been noted is then never older than the change.
package final class TieredResponseStore: ResponseStoring {
    private let fast: any ResponseStoring
    private let large: any ResponseStoring
    private let promotions = Promotions()

    /// Asks `fast` first; what is stored goes to both.
    package init(_ fast: any ResponseStoring, over large: any ResponseStoring) {
        self.fast = fast
        self.large = large
    }

    package func entry(for key: ImageKey) async -> ResponseEntry? {
        if let entry = await fast.entry(for: key) { return entry }
        let changes = promotions.begin(key)
        let found = await large.entry(for: key)
        // What was changed while it was read must not live on in the fast store.
        let isCurrent = found != nil && !promotions.isChanged(key, since: changes)
        if let found, isCurrent { await fast.store(found, for: key) }
        if promotions.end(key, since: changes), isCurrent { await fast.remove(key) }
        return found
    }

    package func store(_ entry: ResponseEntry, for key: ImageKey) async {
        await large.store(entry, for: key)
        promotions.change(key)
        await fast.store(entry, for: key)
    }

    package func remove(_ key: ImageKey) async {
        await large.remove(key)
        promotions.change(key)
        await fast.remove(key)
    }

    package func removeAll(of resource: ResourceKey) async {
        await large.removeAll(of: resource)
        promotions.change { $0.resource == resource }
        await fast.removeAll(of: resource)
    }

    package func removeAll(storedSince date: Date) async {
        await large.removeAll(storedSince: date)
        promotions.change()
        await fast.removeAll(storedSince: date)
    }

    package func removeAll() async {
        await large.removeAll()
        promotions.change()
        await fast.removeAll()
    }

    package func flush() async {
        await fast.flush()
        await large.flush()
    }
}

/// Knows which entries are on their way from one store to another, and which of them were changed meanwhile.
private final class Promotions: Sendable {
    private struct Promotion {
        var count = 0
        /// Changes since the first of those under way began.
        var changes = 0
    }

    private let underWay = Locked<[ImageKey: Promotion]>([:])

    /// Notes that an entry is about to be read. To be followed by ``end(_:since:)``.
    func begin(_ key: ImageKey) -> Int {
        underWay.withLock { underWay in
            underWay[key, default: Promotion()].count += 1
            return underWay[key]?.changes ?? 0
        }
    }

    /// Whether the entry was changed since.
    func isChanged(_ key: ImageKey, since changes: Int) -> Bool { underWay.withLock { $0[key]?.changes != changes } }

    /// Notes that the entry has arrived, or is not there. Returns whether it was changed meanwhile.
    func end(_ key: ImageKey, since changes: Int) -> Bool {
        underWay.withLock { underWay in
            let isChanged = underWay[key]?.changes != changes
            underWay[key]?.count -= 1
            if underWay[key]?.count == 0 { underWay[key] = nil }
            return isChanged
        }
    }

    /// To be called when a change has been made where entries come from, and before it is made where they go.
    func change(_ key: ImageKey) { underWay.withLock { $0[key]?.changes += 1 } }

    /// The same for many entries.
    func change(where isChanged: (ImageKey) -> Bool = { _ in true }) {
        underWay.withLock { underWay in
            for key in underWay.keys where isChanged(key) { underWay[key]?.changes += 1 }
        }
    }
}
