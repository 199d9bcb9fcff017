/// How to reach a Redis server, and what of it to use.
public struct RedisOptions: Sendable, Hashable {
    /// Where a server listens.
    public enum Address: Sendable, Hashable {
        /// A name or number, and a port.
        case network(host: String, port: Int)
        /// The path of a socket on this machine.
        case socket(String)
    }

    /// Where the server listens. Default: 127.0.0.1, port 6379.
    public var address: Address
    /// The name of the user; nil: the server's default user. Default: nil.
    package var username: String?
    /// What proves it. Default: none.
    package var password: String?
    /// The number of the database. Default: 0.
    package var database: Int
    /// Begins all names that the cache uses, so that several can share a server. Default: `alcedo:`.
    public var prefix: String
    /// The maximum number of connections, and of concurrent calls. Default: 4.
    package var maxConcurrentConnections: Int
    /// Longest time to connect. To look a host's name up takes what the system's resolver takes, which is not counted: where
    /// that matters, give a number or a socket. Default: half a second.
    package var connectTimeout: Duration
    /// The longest time for a part of a reply, and for a call to wait until another has ended. Default: half a second.
    package var responseTimeout: Duration
    /// Longest time for one call, whatever its size: from the first byte that is sent to the last that is read. What takes
    /// longer is given up as if nothing had come. Less than a millisecond counts as one. Default: two seconds.
    package var callTimeout: Duration
    /// Longest time for what takes many calls: to remove all of a resource, to empty the cache, and to count what is there.
    /// No call begins after it. Default: a minute.
    package var bulkOperationTimeout: Duration
    /// The maximum number of bytes of an entry, its metadata included; what is larger is neither stored nor read. Default: 16 MiB.
    package var maximumEntryByteCount: Int
    /// After so many failures in a row the server is left alone. Default: 3.
    package var failureLimit: Int
    /// For how long it is left alone then. Default: five seconds.
    package var retryDelay: Duration

    /// By default a server on this machine, without a password.
    public init(
        address: Address = .network(host: "127.0.0.1", port: 6379), username: String? = nil, password: String? = nil,
        database: Int = 0, prefix: String = "alcedo:", maxConcurrentConnections: Int = 4,
        connectTimeout: Duration = .milliseconds(500), responseTimeout: Duration = .milliseconds(500),
        callTimeout: Duration = .seconds(2), bulkOperationTimeout: Duration = .seconds(60),
        maximumEntryByteCount: Int = 16 << 20, failureLimit: Int = 3, retryDelay: Duration = .seconds(5)
    ) {
        self.address = address
        self.username = username
        self.password = password
        self.database = database
        self.prefix = prefix
        self.maxConcurrentConnections = max(1, maxConcurrentConnections)
        self.connectTimeout = connectTimeout
        self.responseTimeout = responseTimeout
        self.callTimeout = callTimeout
        self.bulkOperationTimeout = bulkOperationTimeout
        self.maximumEntryByteCount = maximumEntryByteCount
        self.failureLimit = max(1, failureLimit)
        self.retryDelay = retryDelay
    }
}
