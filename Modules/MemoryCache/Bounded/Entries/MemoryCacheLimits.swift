/// The limits of a memory cache. The initializer of ``MemoryCache`` documents each limit.
@usableFromInline
package struct MemoryCacheLimits: Sendable, Equatable {
    @usableFromInline package var costLimit: Int
    @usableFromInline package var countLimit: Int
    @usableFromInline package var maximumEntryCost: Int
    @usableFromInline package var timeToLive: Duration?
    @usableFromInline package var extendsExpiryOnUse: Bool

    @usableFromInline
    package init(
        costLimit: Int = Self.defaultCostLimit,
        countLimit: Int = .max,
        maximumEntryCost: Int = .max,
        timeToLive: Duration? = nil,
        extendsExpiryOnUse: Bool = false
    ) {
        self.costLimit = costLimit
        self.countLimit = countLimit
        self.maximumEntryCost = maximumEntryCost
        self.timeToLive = timeToLive
        self.extendsExpiryOnUse = extendsExpiryOnUse
    }

    /// The default cost limit in bytes: 15 % of the memory that this process may use, and at most 768 MiB.
    @usableFromInline package static var defaultCostLimit: Int {
        let memory = SystemMemory.current()
        return SystemMemory.defaultCostLimit(
            physicalByteCount: memory.physicalByteCount, limitByteCount: memory.limitByteCount)
    }

    /// The maximum cost of all entries, limited so that the sum of two costs does not overflow.
    @inlinable var effectiveCost: Int { min(costLimit, .max / 2) }

    @inlinable
    func admits(cost: Int) -> Bool {
        costLimit > 0 && countLimit > 0 && maximumEntryCost > 0 && cost <= min(effectiveCost, maximumEntryCost)
    }
}
