import Alcedo
import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials

/// A downloader that records the cache policies of the originals that operations use, and which originals wait.
///
/// The pipeline returns images without the cache policies of their origins. If an original is downloaded again during
/// an operation, the operation may have used either response. The stricter rules of both policies then apply to the
/// operation. They also apply to operations that begin in the meantime, because those may join it.
final class OriginPolicyTracker: Downloading {
    /// The policies of the responses that an operation may have used.
    private struct Use: Sendable {
        /// The combined policy of the latest download before the operation and of all downloads during it; nil if there
        /// was none.
        var own: OriginCachePolicy?
        /// The combined policy of the operations that were in progress at the beginning, which this operation may join;
        /// nil if there was none.
        var joined: OriginCachePolicy?

        var policy: OriginCachePolicy? { own.map { own in joined.map { own.combined(with: $0) } ?? own } }
    }

    private struct Record: Sendable {
        /// The policies by the number of the operation.
        var uses: [Int: Use] = [:]
        /// The policy of the latest download. An operation that begins later may use its response.
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
    private let waits: OriginWaits
    private let clock: any TimeSource
    private let records = Locked<[ResourceKey: Record]>([:])

    init(_ downloader: any Downloading, waits: OriginWaits, clock: any TimeSource) {
        self.downloader = downloader
        self.waits = waits
        self.clock = clock
    }

    func download(
        _ request: DownloadRequest, progress: (@Sendable (DownloadProgress) -> Void)?
    ) async throws -> Download {
        let download = try await waits.observing(request.source) {
            try await downloader.download(request, progress: progress)
        }
        let policy = OriginCachePolicy(download, now: clock.now)
        // A resource has a record only while an operation observes it.
        records.withLock { $0[request.source.resource]?.add(policy) }
        return download
    }

    /// Whether a download of a source waits for others to end.
    func isWaiting(for source: ImageSource) -> Bool { waits.contains(source) }

    var modifiesRequests: Bool { downloader.modifiesRequests }

    func modified(_ request: HTTPRequest) async throws -> HTTPRequest { try await downloader.modified(request) }

    func addingDefaultFields(to request: HTTPRequest) -> HTTPRequest { downloader.addingDefaultFields(to: request) }

    var responseCache: (any ResponseCacheAccess)? { downloader.responseCache }

    /// Runs work that downloads a source. Returns the result of the work and the policy of the source, or throws the
    /// error of the work. If the policy is unknown because there was no download, the returned policy forbids storing.
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
