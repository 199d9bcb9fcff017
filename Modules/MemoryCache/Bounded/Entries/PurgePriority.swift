/// The order in which a memory cache discards entries under memory pressure.
///
/// At warning, a cache discards half of its cost: low priority first, high priority last, and within a priority the
/// least recently used first. If all priorities are normal, the ``EvictionPolicy`` chooses the entries. At critical
/// pressure, the cache discards every entry. The priority has no effect on evictions while memory suffices; the policy
/// decides those.
///
/// ```swift
/// import AlcedoMemoryCache
///
/// let thumbnails = MemoryCache<String, [UInt8]>(pressureSource: SystemMemoryPressureSource.shared)
/// thumbnails.store([1, 2, 3], for: "on screen", cost: 3, priority: .high)
/// thumbnails.store([4, 5, 6], for: "prefetched", cost: 3, priority: .low)
/// ```
///
/// A cache with a source of memory pressure replaces `NSPurgeableData`:
/// - `beginContentAccess()` corresponds to ``MemoryCache/value(for:)``. A returned value stays valid while the caller
///   holds it. With `findsReferencedValues`, the cache still finds such a value after it has discarded the entry.
/// - `endContentAccess()` corresponds to releasing the value.
/// - `isContentDiscarded` corresponds to a nil result of ``MemoryCache/value(for:)``.
/// - `discardContentIfPossible()` corresponds to ``MemoryCache/removeValue(for:)``.
///
/// Linux has no equivalent of purgeable memory. The kernel of Apple's systems takes the pages of such memory when it
/// needs them, and reports the loss when the program next requests access. The closest call on Linux,
/// `madvise(MADV_FREE)`, also lets the kernel take pages, but a read cannot tell a discarded page from a page of zeros,
/// and the kernel sends no notification. The cache therefore discards values when its
/// ``/AlcedoCore/MemoryPressureSource`` reports pressure. Without a source, it discards nothing.
public enum PurgePriority: Sendable, Comparable, CaseIterable {
    /// Discarded first. Use it for values that are quick to create again or may not be needed.
    case low
    /// The default priority.
    case normal
    /// Discarded last.
    case high
}
