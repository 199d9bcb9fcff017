public import AlcedoCore

/// A cache of a ``TieredDataCache``, with the changes that it accepts.
public struct DataCacheTier: Sendable {
    /// The changes that a tier accepts. Every tier that is not read-only also accepts removals.
    public enum Writes: Sendable, Hashable {
        /// Stores, and promotions of entries found in a lower tier.
        case all
        /// Only stores.
        case stores
        /// Only promotions of entries found in a lower tier.
        case promotions
        /// Neither stores, promotions nor removals.
        case readOnly

        var includesStores: Bool { self == .all || self == .stores }
        var includesPromotions: Bool { self == .all || self == .promotions }
    }

    let cache: any MeasurableDataCache
    let writes: Writes

    /// Creates a tier.
    ///
    /// - Parameters:
    ///   - cache: The cache that stores the bytes of the tier.
    ///   - writes: The changes that the tier accepts. Default: all.
    public init(_ cache: any MeasurableDataCache, writes: Writes = .all) {
        self.cache = cache
        self.writes = writes
    }
}
