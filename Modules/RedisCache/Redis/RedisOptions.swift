/// The address of a Redis server, the database and prefix to use, and the limits of calls.
///
/// ```swift
/// import AlcedoRedisCache
///
/// let options = RedisOptions(
///     address: .network(host: "10.0.0.5", port: 6379), username: "images", password: "secret",
///     prefix: "thumbnails:", maxConcurrentConnections: 8)
/// ```
public struct RedisOptions: Sendable, Hashable {
    /// The address on which a server listens.
    public enum Address: Sendable, Hashable {
        /// A host name or IP address, and a port.
        case network(host: String, port: Int)
        /// The path of a Unix domain socket.
        case socket(String)
    }

    /// The address of the server. Default: 127.0.0.1, port 6379.
    public var address: Address
    /// The user name; nil means the server's default user. Default: nil.
    public var username: String?
    /// The password; nil sends no credentials. Default: nil.
    public var password: String?
    /// The number of the database. Default: 0.
    public var database: Int
    /// The prefix of all Redis keys of the cache, which allows several caches to share a server. Default: `alcedo:`.
    public var prefix: String
    /// The maximum number of connections, and so of concurrent calls. Values below 1 count as 1. Default: 16.
    public var maxConcurrentConnections: Int
    /// The maximum time to connect. Host name lookup by the system's resolver is not included; use an IP address or a
    /// socket where that matters. Values below one millisecond count as one. Default: half a second.
    public var connectTimeout: Duration
    /// The maximum time to wait until the server accepts or sends the next bytes, and the maximum time for which a read
    /// or a store waits for a free connection. Default: half a second.
    public var responseTimeout: Duration
    /// The maximum time for one call of any size, from the first byte sent to the last byte received. A call that takes
    /// longer fails like one without a reply. Values below one millisecond count as one. Default: two seconds.
    public var callTimeout: Duration
    /// The maximum time for an operation that needs many calls: removing all entries of a resource, removing all
    /// entries, counting, and measuring the total size. No call begins after it. Default: one minute.
    public var bulkOperationTimeout: Duration
    /// The maximum number of bytes of an entry, including its metadata and a header of 36 bytes. Larger entries are
    /// neither stored nor read. Default: 16 MiB.
    public var maximumEntryByteCount: Int
    /// The number of consecutive failures after which no calls are sent for ``retryDelay``. Values below 1 count as 1.
    /// Default: 3.
    public var maximumFailureCount: Int
    /// The time for which no calls are sent after ``maximumFailureCount`` failures. Default: five seconds.
    public var retryDelay: Duration

    /// Creates options; by default for a server on this machine without a password.
    ///
    /// - Parameters:
    ///   - address: The address of the server. Default: 127.0.0.1, port 6379.
    ///   - username: The user name; nil means the server's default user. Default: nil.
    ///   - password: The password; nil sends no credentials. Default: nil.
    ///   - database: The number of the database. Default: 0.
    ///   - prefix: The prefix of all Redis keys of the cache. Default: `alcedo:`.
    ///   - maxConcurrentConnections: The maximum number of connections, and so of concurrent calls; at least 1.
    ///     Default: 16.
    ///   - connectTimeout: The maximum time to connect, without host name lookup. Default: half a second.
    ///   - responseTimeout: The maximum time to wait until the server accepts or sends the next bytes, and the maximum
    ///     time for which a read or a store waits for a free connection. Default: half a second.
    ///   - callTimeout: The maximum time for one call of any size; at least one millisecond. Default: two seconds.
    ///   - bulkOperationTimeout: The maximum time for an operation that needs many calls. Default: one minute.
    ///   - maximumEntryByteCount: The maximum number of bytes of an entry, including its metadata and a header of 36
    ///     bytes. Default: 16 MiB.
    ///   - maximumFailureCount: The number of consecutive failures after which no calls are sent for `retryDelay`; at
    ///     least 1. Default: 3.
    ///   - retryDelay: The time for which no calls are sent after `maximumFailureCount` failures. Default: five
    ///     seconds.
    public init(
        address: Address = .network(host: "127.0.0.1", port: 6379), username: String? = nil, password: String? = nil,
        database: Int = 0, prefix: String = "alcedo:", maxConcurrentConnections: Int = 16,
        connectTimeout: Duration = .milliseconds(500), responseTimeout: Duration = .milliseconds(500),
        callTimeout: Duration = .seconds(2), bulkOperationTimeout: Duration = .seconds(60),
        maximumEntryByteCount: Int = 16 << 20, maximumFailureCount: Int = 3, retryDelay: Duration = .seconds(5)
    ) {
        self.address = address
        self.username = username
        self.password = password
        self.database = database
        self.prefix = prefix
        self.maxConcurrentConnections = maxConcurrentConnections
        self.connectTimeout = connectTimeout
        self.responseTimeout = responseTimeout
        self.callTimeout = callTimeout
        self.bulkOperationTimeout = bulkOperationTimeout
        self.maximumEntryByteCount = maximumEntryByteCount
        self.maximumFailureCount = maximumFailureCount
        self.retryDelay = retryDelay
    }
}
