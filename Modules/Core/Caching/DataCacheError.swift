public import AlcedoRuntime

/// An error of a data cache that could not store or maintain entries.
public struct DataCacheError: CodedError, Hashable {
    /// The kind of failure.
    public enum Code: String, Sendable {
        /// The directory cannot be created or written, an entry cannot be removed, or no tier of a cache with several
        /// tiers accepts stores.
        case notWritable
        /// The storage is full.
        case noSpace
        /// The entry exceeds a limit of the cache.
        case tooLarge
        /// Any other failure; the message describes it.
        case failed
    }

    /// The kind of failure.
    public var code: Code
    /// A description of the failure in one sentence, for logs.
    package var message: String

    /// Creates an error, for caches outside this package.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
