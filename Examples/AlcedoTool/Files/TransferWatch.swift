import Alcedo
import ExampleSupport

/// Tells how transfers go on to those who want the bytes, and not an image, of which the pipeline tells nothing meanwhile.
final class TransferWatch: Downloading {
    private let downloader: any Downloading
    /// By what is loaded; several may want the same.
    private let watchers = Locked<[ResourceKey: [Int: BatchLoad.Progress]]>([:])
    private let lastID = Locked(0)

    init(_ downloader: any Downloading) { self.downloader = downloader }

    func download(
        _ request: DownloadRequest, progress: (@Sendable (DownloadProgress) -> Void)?
    ) async throws -> Download {
        let resource = request.source.resource
        return try await downloader.download(request) { [self] step in
            progress?(step)
            for watcher in watchers.withLock({ $0[resource] ?? [:] }).values { watcher(step) }
        }
    }

    /// Runs a load of the source, and tells of its bytes meanwhile.
    func watch<Loaded>(
        _ source: ImageSource, _ progress: @escaping BatchLoad.Progress, while load: () async throws -> Loaded
    ) async throws -> Loaded {
        let resource = source.resource
        let id = lastID.withLock { last in
            last += 1
            return last
        }
        watchers.withLock { $0[resource, default: [:]][id] = progress }
        defer {
            watchers.withLock { watchers in
                watchers[resource]?[id] = nil
                if watchers[resource]?.isEmpty == true { watchers[resource] = nil }
            }
        }
        return try await load()
    }
}
