/// The result of a verification of all entries of a data cache.
package struct DataCacheVerification: Sendable, Hashable {
    /// The number of entries read, including damaged ones.
    package var checkedCount: Int
    /// The number of bytes that the intact entries occupy, as ``DataCacheLimits/sizeLimit`` counts them.
    package var byteCount: Int
    /// The ``ImageKey/fileName`` of the key of each damaged entry, in a database also of each entry whose file was
    /// missing. The cache no longer contains these entries.
    package var damagedNames: [String]
    /// The first error that prevented reading an entry or removing a damaged one; nil if there was none.
    package var error: DataCacheError?

    /// Creates a result. By default, it describes an empty cache.
    package init(
        checkedCount: Int = 0, byteCount: Int = 0, damagedNames: [String] = [], error: DataCacheError? = nil
    ) {
        self.checkedCount = checkedCount
        self.byteCount = byteCount
        self.damagedNames = damagedNames
        self.error = error
    }
}
