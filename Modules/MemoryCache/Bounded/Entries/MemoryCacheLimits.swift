/// What a memory cache may hold, and for how long.
public struct MemoryCacheLimits: Sendable, Equatable {
    /// Most cost of all entries together, in the caller's unit, usually bytes. Nought or less stores nothing. More than
    /// half of `Int.max` counts as that, so that sums cannot overflow. Entries that cost nought are bounded by ``countLimit``
    /// alone, and by nothing where that has no limit.
    public var costLimit: Int
    /// Most entries. Nought or less stores nothing.
    public var countLimit: Int
    /// Most cost of a single entry. A costlier one is not stored and evicts nothing. Nought or less stores nothing.
    public var entryCostLimit: Int
    /// How long an entry lives that is stored without a time of its own; nil for as long as there is room.
    public var timeToLive: Duration?
    /// Whether each use gives an entry its whole time again.
    public var extendsLifeOnUse: Bool

    /// - Parameters:
    ///   - costLimit: Default: 15 % of the memory that this process may have, at most 768 MiB. See
    ///     ``defaultCostLimit``.
    ///   - countLimit: Default: no limit of its own.
    ///   - entryCostLimit: Default: no limit of its own.
    ///   - timeToLive: Default: nil.
    ///   - extendsLifeOnUse: Default: false.
    public init(
        costLimit: Int = Self.defaultCostLimit,
        countLimit: Int = .max,
        entryCostLimit: Int = .max,
        timeToLive: Duration? = nil,
        extendsLifeOnUse: Bool = false
    ) {
        self.costLimit = costLimit
        self.countLimit = countLimit
        self.entryCostLimit = entryCostLimit
        self.timeToLive = timeToLive
        self.extendsLifeOnUse = extendsLifeOnUse
    }

    /// A cost limit in bytes: 15 % of the memory that this process may have, and at most 768 MiB.
    ///
    /// Counts the limits of the process's control groups. Reads them from the system on each call.
    public static var defaultCostLimit: Int {
        let memory = SystemMemory.current()
        return SystemMemory.defaultCostLimit(
            physicalByteCount: memory.physicalByteCount, limitByteCount: memory.limitByteCount)
    }

    /// Most cost of all entries, such that the sum of two entries' costs fits.
    @inlinable var effectiveCost: Int { min(costLimit, .max / 2) }

    @inlinable
    func admits(cost: Int) -> Bool {
        costLimit > 0 && countLimit > 0 && entryCostLimit > 0 && cost <= min(effectiveCost, entryCostLimit)
    }
}
