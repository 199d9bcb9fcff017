public import AlcedoHTTP

/// The caches that a request may read and write, and whether it may use the network.
///
/// ```swift
/// var request = ImageRequest(url: url)
/// request.cachePolicy = .reload
/// ```
public struct CachePolicy: Sendable, Hashable {
    /// The permitted operations on one cache.
    public enum Access: Sendable, Hashable {
        /// No reading and no writing.
        case none
        /// Reading only.
        case read
        /// Writing only.
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

    /// Access to the memory cache, which holds decoded images. Default: all.
    public var memory: Access
    /// Access to the disk cache, which holds encoded bytes. Default: all.
    public var disk: Access
    /// Access to a response cache below the downloader. Default: all.
    ///
    /// Without read access, an HTTP request whose ``/AlcedoHTTP/HTTPCachePolicy`` is `useProtocolCachePolicy` uses
    /// `reloadIgnoringLocalCacheData` instead. Any other HTTP cache policy stays in effect, whether it was passed to
    /// ``init(_:)`` or belongs to the source's own request. Without write access, the response cache does not store the
    /// response.
    public var response: Access
    /// The policy for a response cache; nil to use the policy of the source's own request. Default: nil.
    package var protocolPolicy: HTTPCachePolicy?
    /// Whether the request may use the network when no cache has the image. Provider closures and URLs of other schemes
    /// count as the network. Default: true.
    public var allowsNetwork: Bool

    /// Creates a policy. By default, all caches are read and written, and the network is used when they do not have the
    /// image.
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

    /// Creates the policy for all caches that corresponds to a policy of `NSURLRequest`.
    ///
    /// HTTP freshness does not apply to images in memory and bytes on disk. They are used under the policies that allow
    /// a stored response without a request to the server, and ignored under the others.
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

    /// A policy that reads and writes all caches.
    public static let all = CachePolicy()
    /// A policy that ignores the caches and stores the result, as `reloadIgnoringLocalCacheData` does.
    public static let reload = CachePolicy(.reloadIgnoringLocalCacheData)
    /// A policy that uses the caches and never the network, as `returnCacheDataDontLoad` does. A stale response from a
    /// response cache is accepted. The load fails when no cache has the image, unless the source is local.
    public static let cacheOnly = CachePolicy(.returnCacheDataDontLoad)
    /// A policy that ignores memory and disk, and validates the stored response with the server, as
    /// `reloadRevalidatingCacheData` does. The result is stored in all caches.
    public static let revalidate = CachePolicy(.reloadRevalidatingCacheData)
    /// A policy that reads and writes no cache. Only a response cache is read, if the source's own HTTP request has a
    /// cache policy such as `returnCacheDataElseLoad`: see ``response``.
    public static let none = CachePolicy(memory: .none, disk: .none, response: .none)
}
