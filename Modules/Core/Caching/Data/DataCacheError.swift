/// Why bytes could not be stored.
public struct DataCacheError: Error, Sendable, Equatable, CustomStringConvertible {
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

    public var code: Code
    public var message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}
