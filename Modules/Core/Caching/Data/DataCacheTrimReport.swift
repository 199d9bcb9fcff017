/// What went when a data cache kept its limits.
public struct DataCacheTrimReport: Sendable, Hashable {
    /// Why an entry went.
    public enum Reason: String, Sendable {
        /// Its time was over.
        case expired
        /// The entries occupied more than ``DataCacheLimits/size``.
        case sizeLimit
        /// There were more entries than ``DataCacheLimits/count``.
        case countLimit
        /// The storage was full.
        case noSpace
        /// Somebody asked for a trim to less than the limits.
        case requested
    }

    /// An entry that went.
    public struct Removal: Sendable, Hashable {
        /// ``ImageKey/fileName`` of the entry's key.
        public var name: String
        /// The bytes that it occupied, as ``DataCacheLimits/size`` counts them.
        public var size: Int
        /// Why it went.
        public var reason: Reason

        /// What a cache says of an entry that went.
        public init(name: String, size: Int, reason: Reason) {
            self.name = name
            self.size = size
            self.reason = reason
        }
    }

    /// In the order in which they went.
    public var removals: [Removal]
    /// Why more is left than should be, where the cache tells.
    public var refusal: DataCacheError?

    /// A report; by default of nothing.
    public init(removals: [Removal] = [], refusal: DataCacheError? = nil) {
        self.removals = removals
        self.refusal = refusal
    }

    /// Bytes that became free.
    public var byteCount: Int { removals.reduce(0) { $0 + $1.size } }
}
