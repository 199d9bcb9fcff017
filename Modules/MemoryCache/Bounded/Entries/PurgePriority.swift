/// How long an entry of a memory cache is kept when memory is short.
///
/// At a warning a cache gives up half of its cost: entries of low priority first, those of high priority last, and
/// among equals the least recently used first. At critical pressure every entry goes. The priority has no effect on
/// what is evicted while memory suffices; that is up to the ``EvictionPolicy``.
///
/// ```swift
/// import AlcedoMemoryCache
///
/// let thumbnails = MemoryCache<String, [UInt8]>(pressureSource: SystemMemoryPressureSource.shared)
/// thumbnails.store([1, 2, 3], for: "on screen", cost: 3, priority: .high)
/// thumbnails.store([4, 5, 6], for: "loaded ahead", cost: 3, priority: .low)
/// ```
///
/// It takes the place of `NSPurgeableData`:
/// - `beginContentAccess()` is ``MemoryCache/value(for:)``. A value that was returned stays valid for as long as the
///   caller holds it, whatever the cache does, and with `findsReferencedValues` it is found for as long.
/// - `endContentAccess()` is releasing the value.
/// - `isContentDiscarded` is that ``MemoryCache/value(for:)`` returns nil.
/// - `discardContentIfPossible()` is ``MemoryCache/removeValue(for:)``.
///
/// Linux cannot do the rest. There, the kernel takes the pages of purgeable memory by itself, at the moment of need,
/// and says so when they are accessed. The nearest call of Linux, `madvise(MADV_FREE)`, also lets the kernel take
/// pages, but a read cannot tell a page that was taken from one of zeros, and no notification is sent. So here the
/// cache releases values when its ``MemoryPressureSource`` reports a shortage; without such a source, nothing is
/// discarded.
public enum PurgePriority: Sendable, Comparable, CaseIterable {
    /// Discarded first: what can be made again quickly, or may not be needed.
    case low
    /// The default.
    case normal
    /// Discarded last.
    case high
}
