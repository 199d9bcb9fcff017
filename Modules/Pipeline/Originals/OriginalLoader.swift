import AlcedoCore
import FoundationEssentials

/// Gets the encoded bytes of a resource, from the disk cache or the downloader, once for all who want them.
struct OriginalLoader: Sendable {
    private struct SharedWork: Hashable, Sendable {
        var resource: ImageKey
        var policy: CachePolicy
    }

    private let downloader: any Downloading
    private let disk: DiskStage
    private let hasResponseCache: Bool
    private let backlog: Backlog
    private let report: Reporter
    private let loads = Coalescer<SharedWork, OriginalUpdate, Original>()

    init(
        downloader: any Downloading, disk: DiskStage, hasResponseCache: Bool, backlog: Backlog, report: Reporter
    ) {
        self.downloader = downloader
        self.disk = disk
        self.hasResponseCache = hasResponseCache
        self.backlog = backlog
        self.report = report
    }

    /// - Parameter update: Is told of bytes only where the first who asks wants previews.
    func load(
        _ request: ImageRequest, _ priority: LivePriority, update: @escaping @Sendable (OriginalUpdate) -> Void
    ) async throws -> Original {
        var policy = request.cachePolicy
        // Who wants the decoded image in memory and who does not can share the bytes.
        policy.memory = []
        let work = SharedWork(resource: request.originalKey, policy: policy)
        return try await loads.value(for: work, priority: priority, onUpdate: update) { update, priority in
            if let found = try await self.read(request, priority) { return found }
            return try await self.download(request, priority, update)
        }
    }

    /// Stores bytes that were decoded, or whose header was read, behind the caller's back while there is room.
    func keep(_ original: Original, for request: ImageRequest, since mark: ChangeMark?) async {
        guard original.writeClaim?.take() == true else { return }
        // Not what counts the bytes as waiting for a decoder: they count as a write now.
        await disk.write(for: request.originalKey, since: mark, byteCount: original.data.count) {
            [data = original.data] in
            data
        }
    }

    /// Removes the stored bytes of a resource.
    func forget(_ request: ImageRequest) async {
        report(request.originalKey, .diskMiss(.damaged))
        await disk.remove(request.originalKey)
    }

    func shutDown() async { await loads.shutDown(throwing: PipelineError.shutDown) }

    private func read(_ request: ImageRequest, _ priority: LivePriority) async throws -> Original? {
        let hold = BacklogHold(of: backlog)
        guard request.source.isWorthStoring,
            let data = try await disk.read(
                request.originalKey, isAllowed: request.cachePolicy.disk.contains(.read), into: hold, priority)
        else { return nil }
        return Original(data: data, layer: .disk, allowsStoring: true, hold: hold.arrived(data.count))
    }

    private func download(
        _ request: ImageRequest, _ priority: LivePriority, _ update: @escaping @Sendable (OriginalUpdate) -> Void
    ) async throws -> Original {
        let isRemote = request.source.isWorthStoring
        let policy = request.cachePolicy
        let mayHaveResponse = hasResponseCache && policy.responses.contains(.read)
        guard policy.allowsNetwork || !isRemote || mayHaveResponse else { throw Self.notInCache(nil) }
        let hold = makeHold(for: request.source)
        let start = report.now
        let download: Download
        do {
            var asked = DownloadRequest(Self.source(of: request), following: priority)
            // Whoever keeps the request must not keep the bytes counted.
            if hold != nil { asked.room = { [weak hold] in try await hold?.waitForRoom(priority) } }
            if request.wantsPreviews { asked.onBytes = { update(.bytes(offset: $0, $1)) } }
            download = try await downloader.download(asked) { update(.progress($0)) }
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            guard policy.allowsNetwork || !isRemote else { throw Self.notInCache(error) }
            throw PipelineError(.download, "\(error)", cause: error)
        }
        report(request.originalKey, .downloaded(bytes: download.data.count, download.caching?.source), since: start)
        let isStorable = isRemote && policy.disk.contains(.write) && download.allowsStoring
        return Original(
            data: download.data,
            layer: isRemote ? .network : .local,
            allowsStoring: download.allowsStoring,
            writeClaim: isStorable ? WriteClaim() : nil,
            hold: hold?.arrived(download.data.count))
    }

    private func makeHold(for source: ImageSource) -> BacklogHold? {
        // The request has these bytes as long as it is there itself.
        if case .bytes = source { return nil }
        return BacklogHold(of: backlog)
    }

    private static func notInCache(_ cause: (any Error)?) -> PipelineError {
        PipelineError(.notInCache, "not in any cache, and the network is not to be used", cause: cause)
    }

    /// The source, with the request's wishes for the response cache on the way.
    private static func source(of request: ImageRequest) -> ImageSource {
        let policy = request.cachePolicy
        guard case .http(var http) = request.source else { return request.source }
        if let wanted = policy.protocolPolicy { http.cachePolicy = wanted }
        if !policy.allowsNetwork { http.cachePolicy = .returnCacheDataDontLoad }
        if !policy.responses.contains(.read), http.cachePolicy == .useProtocolCachePolicy {
            http.cachePolicy = .reloadIgnoringLocalCacheData
        }
        if !policy.responses.contains(.write) { http.allowsStoring = false }
        return .http(http)
    }
}
