public import AlcedoCore
public import FoundationEssentials

/// Keeps HTTP answers in memory, the most recently used ones within a number of bytes.
public final class MemoryResponseStore: ResponseStoring {
    /// Most bytes of all answers, heads included.
    public let byteLimit: Int

    private let entries = Locked(LRUList<URL, [StoredResponse]>())

    /// - Parameter byteLimit: Default: 64 MiB.
    public init(byteLimit: Int = 64 << 20) { self.byteLimit = byteLimit }

    /// The answers stored for `url`, and counts as a use of them. O(1).
    public func responses(for url: URL) async -> [StoredResponse] { entries.withLock { $0.use(url) ?? [] } }

    /// Replaces the answers stored for `url`, and removes the least recently used ones of other URLs beyond the limit.
    ///
    /// Answers that exceed the whole limit are not stored and evict nothing else; what stood there goes.
    public func replace(_ responses: [StoredResponse], for url: URL) async {
        let cost = responses.reduce(0) { $0 + Self.cost(of: $1) }
        let released = entries.withLock { entries in
            var released = [entries.remove(url) ?? []]
            guard !responses.isEmpty, cost <= byteLimit else { return released }
            entries.trim(toCost: byteLimit - cost, into: &released)
            entries.insert(responses, for: url, cost: cost)
            return released
        }
        _ = consume released
    }

    public func removeAll() async { entries.withLock { $0 = LRUList() } }

    /// Bytes of all answers, heads included.
    public var totalSize: Int { entries.withLock { $0.totalCost } }

    private static func cost(of response: StoredResponse) -> Int {
        let fields = response.head.fields.fields + response.varyingFields.fields
        // What the values and the list's own links take beside their bytes, roughly.
        return response.body.count + 512 + fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 64 }
    }
}
