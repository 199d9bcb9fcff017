import Alcedo
import AlcedoRuntime
import FoundationEssentials

/// The originals that are being downloaded, and whether their requests wait for others to end: in the queue of the
/// downloader, or for a permit of the transport. A request after a redirect does not count, because the origin has
/// responded by then.
final class OriginWaits: Sendable {
    private struct Original {
        /// The number of downloads. The latest change of any of them counts for all.
        var count = 0
        var isWaiting = true
    }

    private let originals = Locked<[ResourceKey: Original]>([:])

    /// Runs a download of a source. Throws the error of `download`.
    func observing<Value: Sendable>(
        _ source: ImageSource, _ download: () async throws -> Value
    ) async rethrows -> Value {
        guard case .http(let request) = source else { return try await download() }
        let key = ResourceKey(request.url)
        originals.withLock { $0[key, default: Original()].count += 1 }
        defer {
            originals.withLock { originals in
                originals[key]?.count -= 1
                if originals[key]?.count == 0 { originals[key] = nil }
            }
        }
        return try await download()
    }

    /// Records whether the request for a URL waits. Has no effect if the URL is not that of an original.
    func set(_ url: URL, isWaiting: Bool) {
        let key = ResourceKey(url)
        originals.withLock { $0[key]?.isWaiting = isWaiting }
    }

    /// Whether the request for an original waits.
    func contains(_ source: ImageSource) -> Bool {
        guard case .http(let request) = source else { return false }
        let key = ResourceKey(request.url)
        return originals.withLock { $0[key]?.isWaiting == true }
    }
}
