public import AlcedoHTTP

/// Which layers a request may read and write, and whether it may use the network.
public struct CachePolicy: Sendable, Hashable {
    /// What a request may do with one cache.
    public enum Access: Sendable, Hashable {
        /// Neither reading nor writing.
        case none
        /// A stored image may be used.
        case read
        /// A loaded image may be stored.
        case write
        /// Reading and writing.
        case all

        package var reads: Bool {
            get { self == .read || self == .all }
            set { self = newValue ? (writes ? .all : .read) : (writes ? .write : .none) }
        }

        package var writes: Bool {
            get { self == .write || self == .all }
            set { self = newValue ? (reads ? .all : .write) : (reads ? .read : .none) }
        }
    }

    /// Decoded images in memory. Default: both.
    public var memory: Access
    /// Bytes on disk. Default: both.
    public var disk: Access
    /// Whether a response cache below the downloader may answer or store. Without `read` it does not answer, unless
    /// `protocolPolicy` or the source's own request names another policy than `useProtocolCachePolicy`, which stays.
    public var response: Access
    /// How a response cache uses what it has; nil: as the source's own request says. Default: nil.
    package var protocolPolicy: HTTPCachePolicy?
    /// Whether the request may go to the network when no cache answers; closures count as the network.
    public var allowsNetwork: Bool

    /// By default every layer is used, and the network where they have nothing.
    public init(
        memory: Access = .all, disk: Access = .all, response: Access = .all, protocolPolicy: HTTPCachePolicy? = nil,
        allowsNetwork: Bool = true
    ) {
        self.memory = memory
        self.disk = disk
        self.response = response
        self.protocolPolicy = protocolPolicy
        self.allowsNetwork = allowsNetwork
    }

    /// What a policy of `NSURLRequest` means for all layers. Images in memory and bytes on disk have no age: they answer
    /// where a stored answer may, and are passed over where the server is to be asked.
    public init(_ policy: HTTPCachePolicy) {
        switch policy {
        case .useProtocolCachePolicy: self.init()
        case .reloadIgnoringLocalCacheData:
            self.init(memory: .write, disk: .write, response: .write, protocolPolicy: policy)
        case .reloadIgnoringLocalAndRemoteCacheData:
            self.init(memory: .write, disk: .write, response: .write, protocolPolicy: policy)
        case .returnCacheDataElseLoad: self.init(protocolPolicy: policy)
        case .returnCacheDataDontLoad: self.init(protocolPolicy: policy, allowsNetwork: false)
        case .reloadRevalidatingCacheData: self.init(memory: .write, disk: .write, protocolPolicy: policy)
        }
    }

    /// Every layer is read and written.
    public static let all = CachePolicy()
    /// Nothing is read, the result is written: `reloadIgnoringLocalCacheData`.
    public static let reload = CachePolicy(.reloadIgnoringLocalCacheData)
    /// The caches answer, whatever the age, or the request fails: `returnCacheDataDontLoad`.
    public static let cacheOnly = CachePolicy(.returnCacheDataDontLoad)
    /// The server is asked whether what is stored still holds: `reloadRevalidatingCacheData`.
    public static let revalidate = CachePolicy(.reloadRevalidatingCacheData)
    /// Nothing is read and nothing is written; a policy that the source's own request names stays.
    public static let none = CachePolicy(memory: .none, disk: .none, response: .none)
}

/// What a pipeline keeps on disk of what it loads.
public enum DataCachePolicy: String, Sendable, Hashable, CaseIterable {
    /// The bytes as they came, for every size and processor there may be.
    case original
    /// The image as it was asked for, in a format that holds it; the bytes as they came when nothing was done to them.
    case processed
    /// Both of these.
    case both
    /// The image as it was asked for where that is more than decoding (a size, a processor); else the bytes as they came.
    /// Files in the file system are not copied, what is made of them is kept.
    case automatic

    /// Whether the bytes as they came are kept, for a request that does or does not change them.
    package func keepsOriginal(isVariant: Bool) -> Bool {
        switch self {
        case .original, .both: true
        case .processed, .automatic: !isVariant
        }
    }

    /// Whether what was made of them is kept.
    package var keepsVariants: Bool { self != .original }
}
