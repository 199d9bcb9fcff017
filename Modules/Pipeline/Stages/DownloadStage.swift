import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials

/// The stage that loads the encoded bytes of a resource from the disk cache or the downloader, once for all requests
/// that need them.
struct DownloadStage: Sendable {
    private let downloader: any Downloading
    private let disk: DiskStage
    private let generations: GenerationCounter
    private let encodedBudget: EncodedByteBudget
    private let waits: ProviderWaits
    private let versions: FileVersions
    private let resolver: RequestResolver
    private let report: Reporter
    private let unusable: UnusableResponses
    private let loads: Coalescer<DownloadKey, OriginalUpdate, Original>

    init(
        downloader: any Downloading, disk: DiskStage, generations: GenerationCounter, encodedBudget: EncodedByteBudget,
        waits: ProviderWaits, versions: FileVersions, resolver: RequestResolver, unusable: UnusableResponses,
        report: Reporter,
        taskExecutor: (any TaskExecutor)?
    ) {
        self.downloader = downloader
        self.disk = disk
        self.generations = generations
        self.encodedBudget = encodedBudget
        self.waits = waits
        self.versions = versions
        self.resolver = resolver
        self.report = report
        self.unusable = unusable
        loads = Coalescer(taskExecutor: taskExecutor)
    }

    /// Loads the bytes of a request's source. Throws ``PipelineError``, `CancellationError`, or ``VaryMarker`` if the
    /// disk cache says that the resource varies.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - priority: The priority of the load.
    ///   - isCancelable: Whether ``cancel(_:)`` cancels this wait. False for a wait of a load, which the pipeline
    ///     cancels itself if no caller is left. Default: false.
    ///   - update: A closure that receives the progress, and the bytes if the request that starts the load enables
    ///     previews.
    func load(
        _ request: ImageRequest, _ priority: PriorityHandle, isCancelable: Bool = false,
        update: @escaping @Sendable (OriginalUpdate) -> Void
    ) async throws -> Original {
        try await loads.value(
            for: DownloadKey(request), from: request.workSource, isCancelable: isCancelable, within: priority.task,
            priority: priority.level, onUpdate: update
        ) { update, level, _ in
            let priority = PriorityHandle(level: level)
            let generation = self.generations.current(request.originalKey.resource)
            var original: Original
            if let found = try await self.read(request, priority) {
                original = found
            } else {
                original = try await self.download(request, priority, update)
            }
            original.generation = generation
            // A load that begins after the change in progress may join.
            if generation == nil { (original.isKeepable, original.writeToken) = (false, nil) }
            return original
        }
    }

    /// Stores bytes in the background, once for all loads that share them. Does nothing when they must not be stored.
    /// The caller has decoded the bytes, or at least their header.
    ///
    /// - Parameters:
    ///   - original: The bytes.
    ///   - digest: The digest of the bytes.
    ///   - request: The request with the keys of the bytes.
    ///   - generation: The generation when the work began, or nil when nothing must be stored.
    func keep(
        _ original: Original, digest: UInt64, for request: ImageRequest, since generation: Generation?
    ) async {
        // A load that may not store leaves the token to the others.
        guard let generation, generations.isUnchanged(request.originalKey.resource, since: generation),
            original.writeToken?.use() == true
        else { return }
        // The closure captures the bytes without their reservation. They no longer wait for a decoder, and the write
        // queue counts them.
        await disk.write(
            for: request.originalKey, since: generation, timeToLive: request.diskTimeToLive, digest: digest,
            byteCount: original.data.count, data: original.data
        ) { [data = original.data] in data }
        await disk.mark(request, since: generation)
    }

    /// Returns the digest of the bytes of a request's source on disk, without reading them; nil when it is not known.
    func storedDigest(of request: ImageRequest) async -> UInt64? {
        guard request.source.isWorthStoring else { return nil }
        return await disk.digest(request.originalKey)
    }

    /// Removes the damaged bytes of a request's source from disk, and reports the damage.
    func forget(_ request: ImageRequest) async {
        report(request.originalKey, .diskMiss(.damaged))
        await disk.remove(request.originalKey)
    }

    /// Records that the bytes of a request's source are not an image, or only a damaged one. A response is then
    /// requested again without any cache at the next load. Does nothing for an image of a format for which the request
    /// has no codec.
    ///
    /// - Parameters:
    ///   - original: The bytes.
    ///   - request: The request.
    ///   - error: The reason.
    ///   - isImage: Whether the request accepts the bytes as a damaged image. Default: false.
    /// - Returns: Whether the bytes came from a response cache, and a load that begins now may receive others.
    func reject(
        _ original: Original, of request: ImageRequest, after error: ImageDecodingError.Code, isImage: Bool = false
    ) -> Bool {
        guard original.layer == .network, error.meansDamage, case .http(let http) = request.source,
            error != .unknownFormat || ForeignFormat.name(of: original.data) == nil
        else { return false }
        let isWorthRepeating = unusable.record(
            request.originalKey, storedUnder: request.varying(by: original.varyingFields).originalKey,
            from: original.responseSource, requestedAt: original.requestedAt, isImage: isImage)
        return isWorthRepeating && ImageSource.http(Self.applying(request, to: http)).mayReload
    }

    /// Returns whether bytes from disk for which a request has no codec are worth loading again. They are not if they
    /// have the format of an image, or were loaded again a short time ago.
    func mayReplace(_ stored: Original, of request: ImageRequest) -> Bool {
        guard ForeignFormat.name(of: stored.data) == nil, unusable.recordMissingCodec(for: request.originalKey) else {
            return false
        }
        // A download from a server begins the pause itself.
        if case .http = request.source { return true }
        _ = unusable.beginReload(of: request.originalKey)
        return true
    }

    /// Records that the bytes of a request's source are an image without damage to its pixels.
    func accept(_ original: Original, of request: ImageRequest) {
        guard original.layer == .network else { return }
        unusable.remove(request.originalKey, request.varying(by: original.varyingFields).originalKey)
    }

    /// Cancels the cancelable waits for the bytes at the URL of a source.
    func cancel(_ source: ImageSource) { loads.cancel(source) }

    var cancelableCount: Int { loads.cancelableCount }

    func shutDown() async { await loads.shutDown(throwing: PipelineError.shutDown) }

    private func read(_ request: ImageRequest, _ priority: PriorityHandle) async throws -> Original? {
        guard request.source.isWorthStoring else { return nil }
        let reservation = EncodedByteReservation(of: encodedBudget)
        let data: Data?
        do {
            data = try await disk.read(
                request.originalKey, isAllowed: request.cachePolicy.disk.reads, mayBeMarker: request.variance == nil,
                into: reservation, priority)?.data
        } catch let marker as VaryMarker {
            if case .http = request.source { throw marker }
            // The bytes of a source without fields are not there, although it has the same resource.
            report(request.originalKey, .diskMiss(.notStored))
            data = nil
        }
        guard let data else { return nil }
        return Original(
            data: data, layer: .disk, allowsStoring: true, varyingFields: request.variance?.fields ?? .none,
            reservation: reservation.arrived(data.count))
    }

    private func download(
        _ request: ImageRequest, _ priority: PriorityHandle, isRepeated: Bool = false,
        _ update: @escaping @Sendable (OriginalUpdate) -> Void
    ) async throws -> Original {
        let isRemote = request.source.isWorthStoring
        let policy = request.cachePolicy
        guard policy.allowsNetwork || !isRemote || mayHaveResponse(request) else { throw Self.notInCache(nil) }
        // Bytes in memory are held by the request itself, so they are not counted.
        let isInMemory = if case .bytes = request.source { true } else { false }
        let reservation = isInMemory ? nil : EncodedByteReservation(of: encodedBudget, for: request)
        var source = try await source(of: request)
        let start = report.clock.uptime
        let reload = source.mayReload ? unusable.beginReload(of: request.originalKey) : nil
        if reload != nil { source.bypassCaches() }
        let renewed = RenewedResource(request)
        let download: Download
        do {
            var downloadRequest = DownloadRequest(source, following: priority)
            downloadRequest.isModified = true
            if case .provider = request.source {
                // The closure may wait for other loads, which need admission themselves, so it reserves nothing while
                // it runs.
                downloadRequest.admission = { [encodedBudget] in try await encodedBudget.waitForAdmission(priority) }
            } else if reservation != nil {
                // A download request that outlives the load must not keep the bytes reserved.
                downloadRequest.admission = { [weak reservation] in try await reservation?.waitForAdmission(priority) }
            }
            downloadRequest.fileVersion = request.fileVersion
            downloadRequest.retry = request.retry
            downloadRequest.skipsQueue = request.skipsQueue
            downloadRequest.renewal = renewal(of: request, reloads: reload != nil, recordedBy: renewed)
            if request.deliversPreviews {
                downloadRequest.onBytes = { offset, bytes in
                    // A waiting request must not show what is only for this one.
                    if !renewed.isOfModifier { update(.bytes(offset: offset, bytes)) }
                }
            }
            download =
                report.tracers.isEmpty
                ? try await downloader.download(downloadRequest) { update(.progress($0)) }
                : try await traced(downloadRequest, update)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            guard policy.allowsNetwork || !isRemote else { throw Self.notInCache(error) }
            if case .provider(let identity, _) = request.source, ProviderCancellation.isCause(of: error) {
                throw PipelineError.provider(identity, error)
            }
            // The downloader may be one of the app, with errors of any type.
            if let rejected = (error as? any HTTPResponseError)?.rejectedSource,
                unusable.record(request.originalKey, from: rejected, requestedAt: start), !isRepeated, source.mayReload
            {
                reservation?.release()
                return try await self.download(request, priority, isRepeated: true, update)
            }
            if reload?.replacesImage == true, policy.allowsNetwork {
                // The stored response may be a damaged image, which is better than none.
                reservation?.release()
                var stored = request
                stored.cachePolicy.allowsNetwork = false
                if let original = try? await self.download(stored, priority, update) { return original }
            }
            var failure = PipelineError(download: error)
            failure.isOfModifier = renewed.isOfModifier
            throw failure
        }
        // The bytes are counted before the next suspension point, because the budget could otherwise admit too many
        // loads.
        let arrived = reservation?.arrived(download.data.count)
        report(request.originalKey, .downloaded(bytes: download.data.count, download.caching?.source), since: start)
        let varyingFields = download.varyingFieldNames.map { VaryingFields($0) } ?? .everything
        let isCurrent = await versions.isCurrent(request)
        let isSame = renewed.isSame(varyingBy: varyingFields)
        let range = renewed.last(source).range
        let isPart = range != nil || download.head?.isPart == true
        let isKeepable = isCurrent && !isPart && varyingFields != .everything && isSame
        let isStorable = isRemote && policy.disk.writes && download.allowsStoring && isKeepable
        return Original(
            data: download.data,
            layer: isRemote ? .network : .local,
            allowsStoring: download.allowsStoring,
            writeToken: isStorable ? WriteToken() : nil,
            isKeepable: isKeepable,
            isOfModifier: renewed.isOfModifier && !(isSame && varyingFields != .everything)
                || range != request.source.range,
            varyingFields: varyingFields,
            responseSource: download.responseSource,
            requestedAt: start,
            reservation: arrived,
            httpResponse: download.head,
            metrics: download.metrics)
    }

    /// Downloads as a step of the load. A function of its own, so that the async frames of other loads stay small.
    private func traced(
        _ request: DownloadRequest, _ update: @escaping @Sendable (OriginalUpdate) -> Void
    ) async throws -> Download {
        try await LoadSpan.run(.download) { try await downloader.download(request) { update(.progress($0)) } }
    }

    /// Returns whether a response cache may have the response. Only HTTP sources use one.
    private func mayHaveResponse(_ request: ImageRequest) -> Bool {
        guard case .http = request.source else { return false }
        return downloader.responseCache != nil && request.cachePolicy.response.reads
    }

    static func notInCache(_ cause: (any Error)?) -> PipelineError {
        PipelineError(
            .notInCache, "not found in any cache, and the cache policy does not allow downloads", cause: cause)
    }

    /// Returns the source with the request's policy for the response cache, and with the changes of the modifiers if
    /// they run for each download.
    private func source(of request: ImageRequest) async throws -> ImageSource {
        let isLate = RequestResolver.modifiesLate(request)
        let source = isLate ? try await resolver.modifiedSource(of: request) : request.source
        guard case .http(let http) = source else { return waits.tracked(request) }
        return .http(Self.applying(request, to: http))
    }

    /// Returns the closure that runs the modifiers again before a further attempt; nil if the request has none.
    private func renewal(
        of request: ImageRequest, reloads: Bool, recordedBy renewed: RenewedResource
    ) -> (@Sendable () async throws -> HTTPRequest)? {
        guard case .http(let first) = request.source, let renewal = resolver.renewal(of: request) else { return nil }
        return {
            let source: ImageSource
            do { source = try await renewal.source() } catch {
                renewed.recordFailure()
                throw error
            }
            guard case .http(let http) = source else { return first }
            renewed.record(http)
            var next = Self.applying(request, to: http)
            if reloads { next.cachePolicy = .reloadIgnoringLocalAndRemoteCacheData }
            return next
        }
    }

    /// Returns the request to the server with what a response cache needs to know of the image request.
    private static func applying(_ request: ImageRequest, to http: HTTPRequest) -> HTTPRequest {
        let policy = request.cachePolicy
        var http = http.withAudience(of: request)
        if let requested = policy.protocolPolicy { http.cachePolicy = requested }
        if !policy.allowsNetwork { http.cachePolicy = .returnCacheDataDontLoad }
        if !policy.response.reads, http.cachePolicy == .useProtocolCachePolicy {
            http.cachePolicy = .reloadIgnoringLocalCacheData
        }
        if !policy.response.writes { http.allowsStoring = false }
        return http
    }
}

/// The resource of the last attempt of a download. The modifiers run again before each one, and may now select another
/// resource than that of the request, such as that of a user who has signed in meanwhile.
private final class RenewedResource: Sendable {
    private let request: ImageRequest
    private let source = Locked<ImageSource?>(nil)
    private let hasFailed = Locked(false)

    init(_ request: ImageRequest) { self.request = request }

    func record(_ http: HTTPRequest) { source.withLock { $0 = .http(http) } }

    /// Records that the modifiers failed, so that there is no further attempt.
    func recordFailure() { hasFailed.withLock { $0 = true } }

    /// Returns the source of the last attempt. The source of the first one is `first`.
    func last(_ first: ImageSource) -> ImageSource { source.withLock { $0 } ?? first }

    /// Whether the last attempt was for another request than the first one, or could not be made, and the modifier of
    /// the request may be the cause. Without an identifier, nothing then says that requests with other modifiers want
    /// the same.
    var isOfModifier: Bool {
        guard request.renewal?.modifier != nil, case .http(let first) = request.source else { return false }
        if hasFailed.withLock({ $0 }) { return true }
        guard case .http(let sent)? = source.withLock({ $0 }) else { return false }
        return sent != first
    }

    /// Whether the last attempt was for the resource of the request, with equal values of the fields by which its
    /// response varies. An identifier names what the modifiers select.
    func isSame(varyingBy fields: VaryingFields) -> Bool {
        guard !RequestResolver.modifiesLate(request), case .http(let sent)? = source.withLock({ $0 }),
            case .http(let first) = request.source
        else { return true }
        var last = request
        last.source = .http(sent)
        return last.originalKey.resource == request.originalKey.resource
            && fields.digest(of: sent.withAudience(of: request)) == fields.digest(of: first.withAudience(of: request))
    }
}

extension HTTPResponseHead {
    /// Whether the response says that it has only a part of the content, whatever its status is.
    fileprivate var isPart: Bool {
        guard let range = fields["Content-Range"].flatMap({ ContentRange($0) }) else { return false }
        return range.bytes.lowerBound > 0 || range.completeCount != range.bytes.upperBound
    }
}

extension ImageSource {
    /// The part of the content for which the source asks; nil for the whole.
    fileprivate var range: String? {
        guard case .http(let request) = self else { return nil }
        return request.fields["Range"]
    }

    /// Whether the source is a server, and the request may be sent to it.
    fileprivate var mayReload: Bool {
        guard case .http(let request) = self else { return false }
        return request.cachePolicy != .returnCacheDataDontLoad
            && !request.fields.list("Cache-Control", contains: "only-if-cached")
    }

    fileprivate mutating func bypassCaches() {
        guard case .http(var request) = self else { return }
        request.cachePolicy = .reloadIgnoringLocalAndRemoteCacheData
        self = .http(request)
    }
}

enum OriginalUpdate: Sendable {
    case progress(DownloadProgress)
    /// Received bytes and their offset. A restarted transfer begins again at offset zero.
    case bytes(offset: Int, Data)
}
