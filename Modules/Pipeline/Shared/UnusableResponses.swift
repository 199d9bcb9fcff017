import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime

/// The resources whose last response could not be used as an image, such as the page of a captive portal, or only as a
/// damaged one.
///
/// A response cache may hold such a response as fresh for hours, and a server may confirm it without sending the bytes.
/// Such a resource is therefore requested again without any cache: at first after a second, and then after intervals
/// that double up to ``maximumDelay``. The table lives as long as the pipeline. In the next process, the first load
/// that receives the stored response finds out again that it is unusable, and requests the resource at once.
final class UnusableResponses: Sendable {
    private struct Entry: Sendable {
        /// The uptime from which the next reload may begin.
        var due: Duration
        /// The interval between the next reload and the one after it.
        var delay: Duration
        /// The uptime at which the last reload began.
        var lastReload: Duration?
        /// Whether the response is a damaged image that a request accepts.
        var isImage: Bool
    }

    /// A request that bypasses all caches.
    struct Reload {
        /// Whether the response that it shall replace is a damaged image that a request accepts.
        let replacesImage: Bool
    }

    /// The interval until the first reload, if the response came from the network.
    private static let minimumDelay = Duration.seconds(1)
    private static let maximumDelay = Duration.seconds(30)

    private let clock: any TimeSource
    private let table = Locked(RecentTable<ImageKey, Entry?>(limit: 4_096))

    init(clock: any TimeSource) { self.clock = clock }

    /// Returns a reload if a request that is sent now must bypass all caches. The next reload is then due after an
    /// interval.
    func beginReload(of key: ImageKey) -> Reload? {
        let now = clock.uptime
        return table.withLock { table in
            guard var entry = table[key] ?? nil, entry.due <= now else { return nil }
            entry.due = now + entry.delay
            entry.delay = min(entry.delay * 2, Self.maximumDelay)
            entry.lastReload = now
            table.set(entry, for: key)
            return Reload(replacesImage: entry.isImage)
        }
    }

    /// Returns whether the last response is a damaged image, and the next reload is not due yet.
    func isCurrent(damagedImageOf key: ImageKey) -> Bool {
        let now = clock.uptime
        return table.withLock { table in
            guard let entry = table[key] ?? nil else { return false }
            return entry.isImage && now < entry.due
        }
    }

    /// Records that memory receives a damaged image whose last response is not known.
    func recordDamagedImage(of key: ImageKey) { _ = record(key, from: nil, requestedAt: .zero, isImage: true) }

    /// Records that a response is unusable.
    ///
    /// - Parameters:
    ///   - key: The key of the original.
    ///   - stored: The key of the original after the response, which later requests have if the response varies, or
    ///     nil if it is the same. Default: nil.
    ///   - source: The origin of the response, or nil when it is not known.
    ///   - start: The uptime at which the response was requested.
    ///   - isImage: Whether the response is a damaged image that the request accepts. Default: false.
    /// - Returns: Whether the same request, sent again now, may receive another response.
    func record(
        _ key: ImageKey, storedUnder stored: ImageKey? = nil, from source: ResponseSource?,
        requestedAt start: Duration, isImage: Bool = false
    ) -> Bool {
        let now = clock.uptime
        let isStored = source != nil && source != .new
        return table.withLock { table in
            let wait = isStored ? .zero : Self.minimumDelay
            let known = table[key] ?? nil
            var entry = known ?? Entry(due: now + wait, delay: Self.minimumDelay + wait, isImage: isImage)
            // Another request may accept more damage.
            entry.isImage = entry.isImage || isImage
            table.set(entry, for: key)
            if let stored, stored != key { table.set(entry, for: stored) }
            guard isStored, known != nil else { return isStored }
            // A reload of another load that began since may have replaced the stored response.
            return entry.due <= now || entry.lastReload.map { $0 >= start } == true
        }
    }

    /// Records that a request has no codec for the bytes on disk, which are then handled like an unusable response.
    /// Returns whether they may be loaded again now.
    func recordMissingCodec(for key: ImageKey) -> Bool {
        let now = clock.uptime
        return table.withLock { table in
            if let known = table[key] ?? nil { return known.due <= now }
            table.set(Entry(due: now, delay: Self.minimumDelay, isImage: false), for: key)
            return true
        }
    }

    /// Records that the last response under these keys was an image without damage to its pixels.
    func remove(_ keys: ImageKey...) {
        table.withLock { table in
            for key in keys where (table[key] ?? nil) != nil { table.set(nil, for: key) }
        }
    }
}
