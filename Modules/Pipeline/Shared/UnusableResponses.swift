import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime

/// The resources whose last response could not be used as an image, such as the page of a captive portal.
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
    }

    /// The interval until the first reload, if the response came from the network.
    private static let minimumDelay = Duration.seconds(1)
    private static let maximumDelay = Duration.seconds(30)

    private let clock: any TimeSource
    private let table = Locked(RecentTable<ImageKey, Entry?>(limit: 4_096))

    init(clock: any TimeSource) { self.clock = clock }

    /// Returns whether a request that is sent now must bypass all caches. If so, the next reload is due after an
    /// interval.
    func beginReload(of key: ImageKey) -> Bool {
        let now = clock.uptime
        return table.withLock { table in
            guard var entry = table[key] ?? nil, entry.due <= now else { return false }
            entry.due = now + entry.delay
            entry.delay = min(entry.delay * 2, Self.maximumDelay)
            entry.lastReload = now
            table.set(entry, for: key)
            return true
        }
    }

    /// Records that a response is unusable.
    ///
    /// - Parameters:
    ///   - key: The key of the original.
    ///   - source: The origin of the response, or nil when it is not known.
    ///   - start: The uptime at which the response was requested.
    /// - Returns: Whether the same request, sent again now, may receive another response.
    func record(_ key: ImageKey, from source: ResponseSource?, requestedAt start: Duration) -> Bool {
        let now = clock.uptime
        let isStored = source != nil && source != .new
        return table.withLock { table in
            guard let entry = table[key] ?? nil else {
                let wait = isStored ? .zero : Self.minimumDelay
                table.set(Entry(due: now + wait, delay: Self.minimumDelay + wait), for: key)
                return isStored
            }
            // A reload of another load that began since may have replaced the stored response.
            return isStored && (entry.due <= now || entry.lastReload.map { $0 >= start } == true)
        }
    }

    /// Records that the last response was a whole image.
    func remove(_ key: ImageKey) {
        table.withLock { table in
            if (table[key] ?? nil) != nil { table.set(nil, for: key) }
        }
    }
}
