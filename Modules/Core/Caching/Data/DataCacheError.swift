/// Why a cache could not store bytes, or not look after those that it has.
public struct DataCacheError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What kind of failure it is.
    public enum Code: String, Sendable {
        /// The directory cannot be made or written.
        case notWritable
        /// The storage is full.
        case noSpace
        /// The entry is larger than the cache.
        case tooLarge
        /// Anything else; the message says what.
        case failed
    }

    /// What callers branch on.
    public var code: Code
    /// One sentence, for logs.
    public var message: String

    /// An error of a cache's own.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}
