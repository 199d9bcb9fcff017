public import AlcedoCore
public import FoundationEssentials

/// Keeps HTTP answers in a fast store before a large one: memory before disk.
///
/// What is found in the large one is kept in the fast one from then on; what is stored or removed is so in both.
public final class TieredResponseStore: ResponseStoring {
    private let fast: any ResponseStoring
    private let large: any ResponseStoring
    private let promotions = Promotions()

    public init(_ fast: any ResponseStoring, over large: any ResponseStoring) {
        self.fast = fast
        self.large = large
    }

    public func entry(for key: ImageKey) async -> ResponseEntry? {
        if let entry = await fast.entry(for: key) { return entry }
        let changes = promotions.begin(key)
        let found = await large.entry(for: key)
        if let found { await fast.store(found, for: key) }
        // What was changed while it was read must not live on in the fast store.
        if promotions.end(key, since: changes), found != nil { await fast.remove(key) }
        return found
    }

    public func store(_ entry: ResponseEntry, for key: ImageKey) async {
        promotions.change(key)
        await fast.store(entry, for: key)
        await large.store(entry, for: key)
    }

    public func remove(_ key: ImageKey) async {
        promotions.change(key)
        await fast.remove(key)
        await large.remove(key)
    }

    public func removeAll(of resource: ResourceKey) async {
        promotions.change { $0.resource == resource }
        await fast.removeAll(of: resource)
        await large.removeAll(of: resource)
    }

    public func removeAll(storedSince date: Date) async {
        promotions.change()
        await fast.removeAll(storedSince: date)
        await large.removeAll(storedSince: date)
    }

    public func removeAll() async {
        promotions.change()
        await fast.removeAll()
        await large.removeAll()
    }

    public func flush() async {
        await fast.flush()
        await large.flush()
    }
}
