/// The order in which a memory cache discards entries under memory pressure.
///
/// ```swift
/// import AlcedoMemoryCache
///
/// let thumbnails = MemoryCache<String, [UInt8]>(pressureSource: SystemMemoryPressureSource.shared)
/// thumbnails.store([1, 2, 3], for: "on screen", cost: 3, priority: .high)
/// thumbnails.store([4, 5, 6], for: "prefetched", cost: 3, priority: .low)
/// ```
///
/// At warning, a cache discards half of its cost: low priority first, high priority last, and within a priority the
/// least recently used first. If all priorities are normal, the ``EvictionPolicy`` chooses the entries. At critical
/// pressure, the cache discards every entry. The priority has no effect on evictions while memory suffices; the policy
/// decides those.
///
/// A cache with a source of memory pressure replaces `NSPurgeableData`, as the page of the module shows.
public enum PurgePriority: Sendable, Comparable, CaseIterable {
    /// Discarded first. Use it for values that are quick to create again or may not be needed.
    case low
    /// The default priority.
    case normal
    /// Discarded last.
    case high
}
