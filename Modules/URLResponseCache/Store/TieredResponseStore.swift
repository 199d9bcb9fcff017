package import AlcedoCore
package import AlcedoHTTP
import AlcedoRuntime
package import FoundationEssentials

/// A store of HTTP responses with two tiers: a fast store, such as memory, before a large one, such as a disk.
///
/// An entry that is found only in the large store is copied to the fast store. Changes apply to both stores, to the
/// large one first. An entry that is read from the large store after a change was recorded is therefore never older
/// than the change.
package final class TieredResponseStore: ResponseStoring {
    private let fast: any ResponseStoring
    private let large: any ResponseStoring
    private let promotions = Promotions()

    /// Creates a store that reads from `fast` first and stores entries in both.
    package init(_ fast: any ResponseStoring, over large: any ResponseStoring) {
        self.fast = fast
        self.large = large
    }

    package func entry(for key: ImageKey) async -> ResponseEntry? {
        if let entry = await fast.entry(for: key) { return entry }
        let changes = promotions.begin(key)
        let found = await large.entry(for: key)
        // An entry that was changed during the read must not stay in the fast store.
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

/// A record of the entries that are being copied from one store to the other, and of their changes in the meantime.
private final class Promotions: Sendable {
    private struct Promotion {
        var count = 0
        /// The number of changes since the first of the current copies began.
        var changes = 0
    }

    private let copies = Locked<[ImageKey: Promotion]>([:])

    /// Records the start of a copy, before the entry is read. Must be followed by ``end(_:since:)``.
    func begin(_ key: ImageKey) -> Int {
        copies.withLock { copies in
            copies[key, default: Promotion()].count += 1
            return copies[key]?.changes ?? 0
        }
    }

    /// Whether the entry was changed since the copy began.
    func isChanged(_ key: ImageKey, since changes: Int) -> Bool { copies.withLock { $0[key]?.changes != changes } }

    /// Records the end of a copy, or that the entry does not exist. Returns whether the entry was changed in the
    /// meantime.
    func end(_ key: ImageKey, since changes: Int) -> Bool {
        copies.withLock { copies in
            let isChanged = copies[key]?.changes != changes
            copies[key]?.count -= 1
            if copies[key]?.count == 0 { copies[key] = nil }
            return isChanged
        }
    }

    /// Records a change. Call this after the change of the source store, and before the change of the destination
    /// store.
    func change(_ key: ImageKey) { copies.withLock { $0[key]?.changes += 1 } }

    /// Records a change of several entries.
    func change(where isChanged: (ImageKey) -> Bool = { _ in true }) {
        copies.withLock { copies in
            for key in copies.keys where isChanged(key) { copies[key]?.changes += 1 }
        }
    }
}
