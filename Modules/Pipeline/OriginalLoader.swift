import AlcedoCore
import FoundationEssentials

/// Gets the encoded bytes of a resource, from the disk cache or the downloader, once for all who want them.
struct OriginalLoader: Sendable {
    private struct SharedWork: Hashable, Sendable {
        var resource: ImageKey
        var policy: CachePolicy
    }

    private let downloader: any Downloading
    private let diskCache: (any DataCaching)?
    private let report: Reporter
    private let loads = Coalescer<SharedWork, DownloadProgress, Original>()
    private let writes: PendingWrites

    init(downloader: any Downloading, diskCache: (any DataCaching)?, pendingWriteLimit: Int, report: Reporter) {
        self.downloader = downloader
        self.diskCache = diskCache
        self.report = report
        writes = PendingWrites(limit: pendingWriteLimit)
    }

    func load(
        _ request: ImageRequest, progress: @escaping @Sendable (DownloadProgress) -> Void
    ) async throws -> Original {
        var policy = request.cachePolicy
        // Who wants the decoded image in memory and who does not can share the bytes.
        policy.memory = []
        let key = SharedWork(resource: request.originalKey, policy: policy)
        return try await loads.value(for: key, onUpdate: progress) { progress in
            if let found = try await self.read(request) { return found }
            return try await self.download(request, progress: progress)
        }
    }

    /// Stores bytes that have proved to be an image, behind the caller's back while there is room.
    func keep(_ original: Original, for request: ImageRequest) async {
        guard let diskCache, original.writeClaim?.take() == true else { return }
        let key = request.originalKey
        await writes.submit(key, byteCount: original.data.count) { [report] in
            do {
                try await diskCache.store(original.data, for: key)
            } catch is CancellationError {
                return
            } catch {
                report(key, .diskWriteFailed(error))
            }
        }
    }

    /// Removes the stored bytes of a resource.
    func forget(_ request: ImageRequest) async {
        await diskCache?.remove(request.originalKey)
    }

    func flush() async { await writes.flush() }

    private func read(_ request: ImageRequest) async throws -> Original? {
        guard let diskCache, request.cachePolicy.disk.contains(.read), request.source.isWorthStoring else { return nil }
        let start = report.now
        guard let data = await diskCache.data(for: request.originalKey) else {
            try Task.checkCancellation()
            report(request.originalKey, .diskMiss, since: start)
            return nil
        }
        report(request.originalKey, .diskHit(bytes: data.count), since: start)
        return Original(data: data, layer: .disk)
    }

    private func download(
        _ request: ImageRequest, progress: @escaping @Sendable (DownloadProgress) -> Void
    ) async throws -> Original {
        let isRemote = request.source.isWorthStoring
        guard request.cachePolicy.allowsNetwork || !isRemote else {
            throw PipelineError(.notInCache, "not in any cache, and the network is not to be used")
        }
        let start = report.now
        let download: Download
        do {
            download = try await downloader.download(
                DownloadRequest(source(of: request), priority: request.priority), progress: progress)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw PipelineError(.download, "\(error)", cause: error)
        }
        report(request.originalKey, .downloaded(bytes: download.data.count), since: start)
        let mayWrite = request.cachePolicy.disk.contains(.write)
        return Original(
            data: download.data,
            layer: isRemote ? .network : .local,
            writeClaim: isRemote && mayWrite && download.allowsStoring ? WriteClaim() : nil)
    }

    /// The source, with the request's wishes for the response cache on the way.
    private func source(of request: ImageRequest) -> ImageSource {
        let access = request.cachePolicy.responses
        guard case .http(var http) = request.source, access != .all else { return request.source }
        if !access.contains(.read), http.cachePolicy == .useProtocolCachePolicy {
            http.cachePolicy = .reloadIgnoringLocalCacheData
        }
        if !access.contains(.write) { http.allowsStoring = false }
        return .http(http)
    }
}
