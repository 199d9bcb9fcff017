/// What a look at every entry of a data cache found.
public struct DataCacheVerification: Sendable, Hashable {
    /// How many entries were read, damaged ones too.
    public var checkedCount: Int
    /// The bytes that the whole ones occupy, as ``DataCacheLimits/size`` counts them.
    public var byteCount: Int
    /// ``ImageKey/fileName`` of the keys whose entries were damaged or missing, and are removed now.
    public var damagedNames: [String]
    /// Why not every entry could be read, or not all that is damaged removed: the first reason that the cache tells.
    public var refusal: DataCacheError?

    /// A report; by default of a cache without entries.
    public init(
        checkedCount: Int = 0, byteCount: Int = 0, damagedNames: [String] = [], refusal: DataCacheError? = nil
    ) {
        self.checkedCount = checkedCount
        self.byteCount = byteCount
        self.damagedNames = damagedNames
        self.refusal = refusal
    }
}
