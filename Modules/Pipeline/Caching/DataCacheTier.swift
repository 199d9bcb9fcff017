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

        /// By stores and by what is found below.
        public static let all: Writes = [.stores, .promotions]
        /// Never.
        public static let readOnly: Writes = []
    }

    /// Where the tier's bytes are.
    public var cache: any DataCaching
    /// When it is written.
    public var writes: Writes

    /// - Parameters:
    ///   - cache: Where the tier's bytes are.
    ///   - writes: Default: all.
    public init(_ cache: any DataCaching, writes: Writes = .all) {
        self.cache = cache
        self.writes = writes
    }
}
