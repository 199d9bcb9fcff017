/// Which layers a request may read and write, and whether it may use the network.
public struct CachePolicy: Sendable, Hashable {
    /// What a request may do with one cache.
    public struct Access: OptionSet, Sendable, Hashable {
        public let rawValue: UInt8

        public init(rawValue: UInt8) { self.rawValue = rawValue }

        public static let read = Access(rawValue: 1)
        public static let write = Access(rawValue: 2)
        public static let all: Access = [.read, .write]
    }

    public var memory: Access
    public var disk: Access
    /// Whether a response cache below the downloader may answer or store.
    public var responses: Access
    /// Whether the request may go to the network when no cache answers.
    public var allowsNetwork: Bool

    public init(memory: Access = .all, disk: Access = .all, responses: Access = .all, allowsNetwork: Bool = true) {
        self.memory = memory
        self.disk = disk
        self.responses = responses
        self.allowsNetwork = allowsNetwork
    }

    /// Every layer is read and written.
    public static let all = CachePolicy()
    /// Nothing is read, the result is written: `reloadIgnoringLocalCacheData`.
    public static let reload = CachePolicy(memory: .write, disk: .write, responses: .write)
    /// The caches answer, whatever the age, or the request fails: `returnCacheDataDontLoad`.
    public static let cacheOnly = CachePolicy(allowsNetwork: false)
    /// Nothing is read and nothing is written.
    public static let none = CachePolicy(memory: [], disk: [], responses: [])
}
