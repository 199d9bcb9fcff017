/// The eviction policy of a memory cache: one of those below, or your own.
///
/// ```swift
/// import AlcedoMemoryCache
///
/// let cache = MemoryCache<String, [UInt8]>(costLimit: 1 << 20, policy: .lru)
/// ```
public struct MemoryCachePolicy: Sendable {
    @usableFromInline let policy: any EvictionPolicy

    /// Uses a policy of your own.
    ///
    /// - Parameter policy: A policy that knows no entries yet.
    public static func custom(_ policy: some EvictionPolicy) -> Self { Self(policy: policy) }

    /// The default: weighs how often an entry is used against its cost, resists scans and loops, and becomes LRU where
    /// only recency matters.
    public static var adaptive: Self { Self(policy: AdaptivePolicy()) }

    /// Evicts the least recently used entry first; exact, to the single read.
    public static var lru: Self { Self(policy: LRUPolicy()) }

    /// Evicts the oldest entry first, used or not.
    public static var fifo: Self { Self(policy: FIFOPolicy()) }

    /// SIEVE: evicts the oldest entry that was not used since the previous pass (Zhang et al., NSDI 2024).
    public static var sieve: Self { Self(policy: SIEVEPolicy()) }

    /// S3-FIFO: keeps entries that were used more than once in a small queue of new ones, or that return soon after
    /// their eviction (Yang et al., SOSP 2023).
    public static var s3FIFO: Self { Self(policy: S3FIFOPolicy()) }

    /// W-TinyLFU: an LRU window before a segmented LRU that admits an entry by its recent frequency (Einziger et al.,
    /// ACM Transactions on Storage, 2017).
    public static var wTinyLFU: Self { Self(policy: WTinyLFUPolicy()) }

    /// GDSF: evicts the entry with the fewest uses for its cost first, and ages entries (Cherkasova, 1998).
    public static var gdsf: Self { Self(policy: GDSFPolicy()) }

    /// Evicts nothing until the limit is exceeded, then the least recently used entries until the rest cost at most
    /// `preferredCost`, as AFNetworking's and AlamofireImage's `AutoPurgingImageCache` do.
    ///
    /// - Parameter preferredCost: In the unit of the limits. Below zero counts as zero, above the limit as the limit.
    public static func purging(toPreferredCost preferredCost: Int) -> Self {
        Self(policy: PurgeToPreferredPolicy(preferredCost: preferredCost))
    }
}
