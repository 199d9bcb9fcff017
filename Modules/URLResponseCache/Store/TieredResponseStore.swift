public import AlcedoCore
public import FoundationEssentials

/// Keeps HTTP answers in a fast store before a large one: memory before disk.
///
/// What is found in the large one is kept in the fast one from then on; what is stored or removed is so in both, in the
/// large one first: what is read from there after a change has been noted is then never older than the change.
public final class TieredResponseStore: ResponseStoring {
    private let fast: any ResponseStoring
    private let large: any ResponseStoring
    private let promotions = Promotions()

    /// Asks `fast` first; what is stored goes to both.
    public init(_ fast: any ResponseStoring, over large: any ResponseStoring) {
        self.fast = fast
        self.large = large
    }

    public func entry(for key: ImageKey) async -> ResponseEntry? {
        if let entry = await fast.entry(for: key) { return entry }
        let changes = promotions.begin(key)
        let found = await large.entry(for: key)
        // What was changed while it was read must not live on in the fast store.
        let isCurrent = found != nil && !promotions.isChanged(key, since: changes)
        if let found, isCurrent { await fast.store(found, for: key) }
        if promotions.end(key, since: changes), isCurrent { await fast.remove(key) }
        return found
    }

    public func store(_ entry: ResponseEntry, for key: ImageKey) async {
        await large.store(entry, for: key)
        promotions.change(key)
        await fast.store(entry, for: key)
    }

    public func remove(_ key: ImageKey) async {
        await large.remove(key)
        promotions.change(key)
        await fast.remove(key)
    }

    public func removeAll(of resource: ResourceKey) async {
        await large.removeAll(of: resource)
        promotions.change { $0.resource == resource }
        await fast.removeAll(of: resource)
    }

    public func removeAll(storedSince date: Date) async {
        await large.removeAll(storedSince: date)
        promotions.change()
        await fast.removeAll(storedSince: date)
    }

    public func removeAll() async {
        await large.removeAll()
        promotions.change()
        await fast.removeAll()
    }

    public func flush() async {
        await fast.flush()
        await large.flush()
    }
}
