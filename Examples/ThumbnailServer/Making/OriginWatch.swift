import Alcedo
import FoundationEssentials

/// A downloader that remembers on what terms the originals came which somebody works on, and no others.
///
/// The pipeline gives pictures, and does not pass on what their origins said of caching.
final class OriginWatch: Downloading {
    private struct Note: Sendable {
        var observers = 0
        var terms: OriginTerms?
    }

    private let downloader: any Downloading
    private let clock: any TimeSource
    private let notes = Locked<[ResourceKey: Note]>([:])

    init(_ downloader: any Downloading, clock: any TimeSource) {
        self.downloader = downloader
        self.clock = clock
    }

    func download(
        _ request: DownloadRequest, progress: (@Sendable (DownloadProgress) -> Void)?
    ) async throws -> Download {
        let download = try await downloader.download(request, progress: progress)
        let terms = OriginTerms(download, now: clock.now)
        // Whoever waits for it observes it; where nobody does any more there is nothing to remember.
        notes.withLock { $0[request.source.resource]?.terms = terms }
        return download
    }

    /// Runs work that downloads a source, and returns what it gives with the source's terms: the strictest when nobody
    /// downloaded it.
    func observing<Value: Sendable>(
        _ source: ImageSource, _ work: () async throws -> Value
    ) async throws -> (Value, OriginTerms) {
        let resource = source.resource
        notes.withLock { $0[resource, default: Note()].observers += 1 }
        defer {
            notes.withLock { notes in
                notes[resource]?.observers -= 1
                if notes[resource]?.observers == 0 { notes[resource] = nil }
            }
        }
        let value = try await work()
        let terms = notes.withLock { $0[resource]?.terms }
        return (value, terms ?? OriginTerms(allowsStoring: false))
    }
}
