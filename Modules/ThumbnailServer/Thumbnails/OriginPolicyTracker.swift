import Alcedo
import AlcedoRuntime
import FoundationEssentials

/// A downloader that remembers on what terms the originals came which somebody works on, and no others.
///
/// The pipeline gives pictures, and does not pass on what their origins said of caching. Where an original is downloaded
/// again during the work, the work may have used either: the stricter terms of both hold for it, and for what begins beside
/// it, which may join it.
final class OriginPolicyTracker: Downloading {
    /// What a piece of work may have used; nil while that is nothing.
    private struct Use: Sendable {
        /// What it began with and what came during it.
        var own: OriginCachePolicy?
        /// What work that ran already had used by itself, which it may join.
        var joined: OriginCachePolicy?

        var policy: OriginCachePolicy? { own.map { own in joined.map { own.combined(with: $0) } ?? own } }
    }

    private struct Record: Sendable {
        /// Of each piece of work.
        var uses: [Int: Use] = [:]
        /// Of the download that ended last: who begins after it may use what it brought.
        var latest: OriginCachePolicy?
        var number = 0

        mutating func begin() -> Int {
            number += 1
            let others = uses.values.compactMap(\.own)
            let joined = others.first.map { first in others.dropFirst().reduce(first) { $0.combined(with: $1) } }
            uses[number] = Use(own: latest, joined: joined)
            return number
        }

        mutating func add(_ new: OriginCachePolicy) {
            latest = new
            uses = uses.mapValues { Use(own: $0.own?.combined(with: new) ?? new, joined: $0.joined) }
        }
    }

    private let downloader: any Downloading
    private let clock: any TimeSource
    private let records = Locked<[ResourceKey: Record]>([:])

    init(_ downloader: any Downloading, clock: any TimeSource) {
        self.downloader = downloader
        self.clock = clock
    }

    func download(
        _ request: DownloadRequest, progress: (@Sendable (DownloadProgress) -> Void)?
    ) async throws -> Download {
        let download = try await downloader.download(request, progress: progress)
        let policy = OriginCachePolicy(download, now: clock.now)
        // Whoever waits for it observes it; where nobody does any more there is nothing to remember.
        records.withLock { $0[request.source.resource]?.add(policy) }
        return download
    }

    /// Runs work that downloads a source, and returns what it gives with the source's terms: the strictest when nobody
    /// downloaded it.
    func observing<Value: Sendable>(
        _ source: ImageSource, _ work: () async throws -> Value
    ) async throws -> (Value, OriginCachePolicy) {
        let resource = source.resource
        let number = records.withLock { $0[resource, default: Record()].begin() }
        let result: Result<Value, any Error>
        do {
            result = .success(try await work())
        } catch {
            result = .failure(error)
        }
        let policy = records.withLock { records in
            let use = records[resource]?.uses.removeValue(forKey: number)
            if records[resource]?.uses.isEmpty == true { records[resource] = nil }
            return use?.policy
        }
        return (try result.get(), policy ?? OriginCachePolicy(allowsStoring: false))
    }
}
