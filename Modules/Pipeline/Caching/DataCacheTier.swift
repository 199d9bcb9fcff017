public import AlcedoCore

/// One of the caches of a ``TieredDataCache``, and what is written to it.
public struct DataCacheTier: Sendable {
    /// When a tier is written. Without any it is read only: nothing is removed from it either.
    public struct Writes: OptionSet, Sendable, Hashable {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        /// By each store.
        public static let stores = Writes(rawValue: 1)
        /// With what a tier below it had.
        public static let promotions = Writes(rawValue: 2)

        public static let all: Writes = [.stores, .promotions]
        public static let readOnly: Writes = []
    }

    public var cache: any DataCaching
    public var writes: Writes

    /// - Parameter writes: Default: all.
    public init(_ cache: any DataCaching, writes: Writes = .all) {
        self.cache = cache
        self.writes = writes
    }
}
