// The policies by short names, for `MemoryCache(costLimit: limit, policy: .lru)`.

extension EvictionPolicy where Self == AdaptivePolicy {
    /// The default. See ``AdaptivePolicy``.
    public static var adaptive: Self { Self() }
}

extension EvictionPolicy where Self == LRUPolicy {
    /// See ``LRUPolicy``.
    public static var lru: Self { Self() }
}

extension EvictionPolicy where Self == FIFOPolicy {
    /// See ``FIFOPolicy``.
    public static var fifo: Self { Self() }
}

extension EvictionPolicy where Self == SIEVEPolicy {
    /// See ``SIEVEPolicy``.
    public static var sieve: Self { Self() }
}

extension EvictionPolicy where Self == S3FIFOPolicy {
    /// See ``S3FIFOPolicy``.
    public static var s3FIFO: Self { Self() }
}

extension EvictionPolicy where Self == WTinyLFUPolicy {
    /// See ``WTinyLFUPolicy``.
    public static var wTinyLFU: Self { Self() }
}

extension EvictionPolicy where Self == GDSFPolicy {
    /// See ``GDSFPolicy``.
    public static var gdsf: Self { Self() }
}

extension EvictionPolicy where Self == PurgeToPreferredPolicy {
    /// See ``PurgeToPreferredPolicy``.
    public static func purging(toPreferredCost preferredCost: Int) -> Self { Self(preferredCost: preferredCost) }
}
