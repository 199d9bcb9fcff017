public import AlcedoCore
public import FoundationEssentials

/// The way of an image: memory, disk, download, decode, process, and back into the caches.
///
/// Equal requests share one load; requests for variants of one resource share its download, the decoding of each size, and
/// each processor that they begin with. The work is as urgent as the most urgent of those who wait for it. Cancelling a task
/// leaves the load; the load ends when nobody waits for it. Bytes reach the disk cache only after they have proved to be a
/// whole image, those of ``data(for:)`` and of loading ahead to disk after their header could be read, and never when the
/// server forbids storing. A part of an image, which only a request that allows it gets, is
/// kept in no cache. Concurrent decodes share one budget of bytes.
///
/// Errors are ``PipelineError``, an interceptor's own, or `CancellationError`.
public final class ImagePipeline: ImageLoading {
    private let configuration: Configuration
    private let report: Reporter
    private let interceptors: InterceptorChain
    private let memory: MemoryStage
    private let disk: DiskStage
    private let originals: OriginalLoader
    private let variants: VariantStage
    private let images: ImageStage
    private let threads: DecodingThreads
    /// Counts removals, so that what was asked for before one brings nothing back.
    private let changes = ChangeOrder()
    private let loads = Coalescer<LoadKey, LoadUpdate, ImageResponse>()
    private let isShutDown = Locked(false)

    /// A pipeline of the parts that the configuration names. Begins nothing by itself.
    public init(_ configuration: Configuration) {
        self.configuration = configuration
        let codecs = configuration.codecs
        report = Reporter(observer: configuration.observer, clock: configuration.clock)
        interceptors = InterceptorChain(configuration.interceptors)
        memory = MemoryStage(configuration.memoryCache, changes: changes)
        let backlog = Backlog(limit: configuration.encodedByteLimit)
        disk = DiskStage(
            configuration.diskCache, changes: changes,
            writes: PendingWrites(
                limit: configuration.pendingWriteLimit, timeout: configuration.writeTimeout, clock: configuration.clock),
            report: report)
        originals = OriginalLoader(
            downloader: configuration.downloader, disk: disk, hasResponseCache: configuration.responseCache != nil,
            backlog: backlog, report: report)
        threads = DecodingThreads(
            codecs: codecs, width: configuration.decodingWidth, byteBudget: configuration.decodingByteBudget)
        variants = VariantStage(
            disk: disk, serializer: configuration.serializer, codecs: codecs, threads: threads, backlog: backlog,
            report: report)
        let recent = RecentPictures(
            limit: configuration.memoryCache == nil ? 0 : configuration.intermediateLimit, changes: changes)
        images = ImageStage(
            originals: originals, memory: memory, recent: recent, codecs: codecs, threads: threads,
            previewInterval: configuration.previewInterval, report: report)
    }

    // MARK: Loading

    /// Returns the finished image if it is in memory, as the request is: interceptors are not asked. Synchronous, without a
    /// task: a look-up and nothing else.
    public func cachedImage(for request: ImageRequest) -> DecodedImage? {
        isShutDown.withLock { $0 } ? nil : memory.image(request)
    }

    public func load(
        _ request: ImageRequest, priority: LivePriority, onUpdate: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> ImageResponse {
        try await interceptors.load(request) { request in
            guard request.showsCachedFirst else { return try await share(request, priority, onUpdate) }
            return try await refresh(request, priority, onUpdate)
        }
    }

    /// Begins a load, and returns what tells of it and controls it.
    ///
    /// - Parameters:
    ///   - request: What is wanted.
    ///   - executor: Where `onEvent` is called. Default: where it happens; it must not block then.
    ///   - onEvent: Is told in order, `finished` last and once. Of progress and of previews that wait for the executor only
    ///     the last one.
    @discardableResult
    public func task(
        for request: ImageRequest, on executor: CallbackExecutor = .immediate,
        onEvent: (@Sendable (ImageTaskEvent) -> Void)? = nil
    ) -> ImageTask {
        let mailbox = onEvent.map { EventMailbox(executor, $0) }
        let task = ImageTask(request) { mailbox?.post($0) }
        task.start { try await self.load(request, priority: $0, onUpdate: $1) }
        return task
    }

    /// Loads many images, a few at a time, and hands over each as it is there.
    ///
    /// - Parameters:
    ///   - requests: What is wanted, in any order.
    ///   - width: Most loads at once. Below one counts as one. Default: 8.
    ///   - progress: Gets the index of a request whose bytes arrive, from any thread; must not block. Default: nobody.
    ///   - onResult: Gets the index of the request, in the order in which loads end.
    /// - Throws: What `onResult` throws, or `CancellationError` when the task is cancelled; the loads then end.
    public func loadAll(
        _ requests: [ImageRequest], width: Int = 8,
        progress: (@Sendable (_ index: Int, _ progress: DownloadProgress) -> Void)? = nil,
        onResult: (_ index: Int, _ result: Result<ImageResponse, any Error>) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: (Int, Result<ImageResponse, any Error>).self) { group in
            var next = 0
            func addNext() {
                guard next < requests.count else { return }
                let index = next
                next += 1
                group.addTask {
                    do {
                        let response = try await self.load(requests[index]) { progress?(index, $0) }
                        return (index, .success(response))
                    } catch {
                        return (index, .failure(error))
                    }
                }
            }
            for _ in 0..<max(1, width) { addNext() }
            while let (index, result) = try await group.next() {
                try Task.checkCancellation()
                try await onResult(index, result)
                addNext()
            }
        }
    }

    /// Returns the bytes of a request's source, from the disk cache or the source, and keeps them as the request says,
    /// without decoding more than their header. As the request is: interceptors, which stand round images, are not asked.
    ///
    /// - Throws: ``PipelineError``, or `CancellationError` when the task is cancelled first.
    public func data(for request: ImageRequest) async throws -> Data {
        try await originalData(for: request, LivePriority(request.priority))
    }

    /// Brings the bytes of a request's source onto the disk, unless what the request needs is there.
    ///
    /// - Returns: False when it was there.
    /// - Throws: As ``data(for:)``; ``PipelineError`` `notStored` when no cache has kept them.
    func storeOriginal(of request: ImageRequest, _ priority: LivePriority) async throws -> Bool {
        guard request.source.isWorthStoring else { return false }
        var layers = await cachedLayers(for: request)
        let enough: CachedLayers = content(request).keepsVariants ? .disk : .original
        if request.cachePolicy.disk.contains(.read), !layers.isDisjoint(with: enough) { return false }
        _ = try await originalData(for: request, priority)
        await disk.flush(request.originalKey)
        layers = await cachedLayers(for: request)
        guard !layers.isDisjoint(with: [.original, .response]) else {
            throw PipelineError(.notStored, "the bytes have come, and no cache on disk has kept them")
        }
        return true
    }

    private func originalData(for request: ImageRequest, _ priority: LivePriority) async throws -> Data {
        let mark = changes.mark(request.originalKey.resource)
        let original = try await originals.load(request, priority) { _ in }
        do {
            _ = try await threads.run(priority: priority) { [codecs = configuration.codecs] in
                try codecs.inspect(original.data, limits: request.decoding.limits)
            }
        } catch let error as ImageDecodingError {
            if original.layer == .disk, error.code.meansDamage { await originals.forget(request) }
            throw PipelineError(.decoding(error.code), error.message, cause: error)
        }
        await originals.keep(original, for: request, since: mark)
        return original.data
    }

    // MARK: What is cached

    /// Where something of the request is cached. Not a use of it.
    public func cachedLayers(for request: ImageRequest) async -> CachedLayers {
        let (key, originalKey) = (request.key, request.originalKey)
        var layers: CachedLayers = []
        if memory.contains(key) { layers.insert(.memory) }
        if key != originalKey, await disk.contains(key) { layers.insert(.processed) }
        if await disk.contains(originalKey) { layers.insert(.original) }
        if case .http(let http) = request.source, await configuration.responseCache?.hasResponse(for: http) == true {
            layers.insert(.response)
        }
        return layers
    }

    /// Removes what is cached of the request. Loads that are under way bring nothing back to memory and disk;
    /// a response cache may still store an answer that is on its way.
    ///
    /// - Parameters:
    ///   - request: Whose image it is.
    ///   - layers: Where. Default: everywhere.
    ///   - allVariants: Whether what other requests made of the resource goes, too; `processed` and `original` are one then.
    ///     Default: false.
    public func removeCached(
        for request: ImageRequest, from layers: CachedLayers = .all, allVariants: Bool = false
    ) async {
        let (key, originalKey) = (request.key, request.originalKey)
        changes.change(.resource(key.resource)) {
            guard layers.contains(.memory) else { return }
            if allVariants { memory.removeAll(of: key.resource) } else { memory.remove(key) }
        }
        images.forget(key.resource)
        if !layers.isDisjoint(with: .disk) {
            await disk.flush()
            if allVariants {
                await disk.removeAll(of: key.resource)
            } else {
                if layers.contains(.processed), key != originalKey { await disk.remove(key) }
                if layers.contains(.original) { await disk.remove(originalKey) }
            }
        }
        if layers.contains(.response), case .http(let http) = request.source {
            await configuration.responseCache?.removeResponses(for: http)
        }
    }

    /// Returns when everything that was loaded so far and belongs on disk is there. A write that takes longer than
    /// ``Configuration/writeTimeout`` is not waited for any longer.
    public func flush() async { await disk.flush() }

    /// Ends every load with ``PipelineError`` `shutDown`, and refuses later ones with it. Returns when the work has ended
    /// and what belongs on disk is there, as after ``flush()``.
    public func shutDown() async {
        isShutDown.withLock { $0 = true }
        await loads.shutDown(throwing: PipelineError.shutDown)
        await images.shutDown()
        await originals.shutDown()
        await disk.flush()
    }

    // MARK: One load

    /// The image from memory, or from the one load of all equal requests.
    private func share(
        _ request: ImageRequest, in round: LoadKey.Round = .only, _ priority: LivePriority,
        _ update: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> ImageResponse {
        guard !isShutDown.withLock({ $0 }) else { throw PipelineError.shutDown }
        let key = request.key
        if let image = memory.image(request) {
            report(key, .memoryHit)
            return ImageResponse(image: image, layer: .memory)
        }
        report(key, .memoryMiss(memory.missReason(request)))
        let work = LoadKey(request, key: key, round: round)
        return try await loads.value(for: work, priority: priority, onUpdate: update) { update, priority in
            try await self.reporting(key, round) { try await self.run(request, priority, update) }
        }
    }

    private func run(
        _ request: ImageRequest, _ priority: LivePriority, _ update: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> ImageResponse {
        // An equal load may have ended between the look into memory and the beginning of this one.
        if let image = memory.image(request) { return ImageResponse(image: image, layer: .memory) }
        let mark = changes.mark(request.key.resource)
        let keepsVariants = content(request).keepsVariants && request.isVariant
        if keepsVariants, let picture = try await variants.picture(request, priority) {
            return finish(picture, request, since: mark)
        }
        let picture = try await images.picture(request, priority, update)
        return try await keep(picture, request, since: mark)
    }

    /// What the caches have, and then what the source has.
    private func refresh(
        _ request: ImageRequest, _ priority: LivePriority, _ update: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> ImageResponse {
        var stored = request
        stored.cachePolicy.allowsNetwork = false
        stored.cachePolicy.responses = []
        var cached: ImageResponse?
        do {
            cached = try await share(stored, in: .cached, priority) { _ in }
        } catch let error as PipelineError where error.code != .shutDown {
            cached = nil
        }
        // Of what was shown; other loads may have brought newer bytes when the source has answered.
        let digest = cached == nil ? nil : memory.digest(of: request.key) ?? images.digest(of: request)
        if let cached { update(.cached(cached)) }
        guard request.cachePolicy.allowsNetwork, request.source.isWorthStoring else {
            guard let cached else { return try await share(request, priority, update) }
            return cached
        }
        var fresh = request
        fresh.cachePolicy.memory.remove(.read)
        fresh.cachePolicy.disk.remove(.read)
        fresh.cachePolicy.protocolPolicy = .reloadRevalidatingCacheData
        let key = fresh.key
        do {
            return try await loads.value(
                for: LoadKey(fresh, key: key, round: .fresh), priority: priority, onUpdate: update
            ) { [fresh, cached] update, priority in
                try await self.reporting(key, .fresh) {
                    try await self.renew(cached, madeOf: digest, fresh, priority, update)
                }
            }
        } catch let error as PipelineError {
            // It is reported; what there is stays.
            guard let cached, error.meansNoBytes else { throw error }
            return cached
        }
    }

    /// What the source has; the same image, when that was made of the same bytes. What was made of others goes.
    private func renew(
        _ cached: ImageResponse?, madeOf digest: UInt64?, _ request: ImageRequest, _ priority: LivePriority,
        _ update: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> ImageResponse {
        let resource = request.key.resource
        var mark = changes.mark(resource)
        guard let cached else {
            // Nothing is shown yet, which previews would make worse.
            return try await keep(try await images.picture(request, priority, update), request, since: mark)
        }
        let original = try await originals.load(request, priority) { news in
            if case .progress(let progress) = news { update(.progress(progress)) }
        }
        if digest == original.data.digest { return cached }
        let picture = try await images.picture(request, of: original, priority)
        // A part is no reason to give up what is whole.
        if picture.image.isPartial { return cached }
        if let before = mark, changes.isUnchanged(resource, since: before) {
            // Other sizes of what was there are as outdated.
            mark = await forget(resource)
        }
        return try await keep(picture, request, since: mark)
    }

    /// Removes everything that was made of a resource, and its bytes. Returns the moment behind it.
    private func forget(_ resource: ResourceKey) async -> ChangeMark? {
        let mark = changes.mark(afterChanging: resource) { memory.removeAll(of: resource) }
        images.forget(resource)
        await disk.removeAll(of: resource)
        return mark
    }

    /// Puts what was made where it belongs.
    private func keep(
        _ picture: Picture, _ request: ImageRequest, since mark: ChangeMark?
    ) async throws -> ImageResponse {
        let content = content(request)
        if let original = picture.original, !picture.image.isPartial,
            content.keepsOriginal(isVariant: request.isVariant)
        {
            await originals.keep(original, for: request, since: mark)
        }
        let response = finish(picture, request, since: mark)
        if content.keepsVariants, request.isVariant {
            await variants.keep(picture, for: request, since: mark)
        }
        return response
    }

    private func finish(_ picture: Picture, _ request: ImageRequest, since mark: ChangeMark?) -> ImageResponse {
        var image = picture.image
        image.scale = request.scale
        memory.store(image, for: request, origin: picture.origin, since: mark)
        let byteCount = picture.layer == .memory ? nil : picture.original?.data.count
        return ImageResponse(image: image, layer: picture.layer, encodedByteCount: byteCount)
    }

    private func content(_ request: ImageRequest) -> DiskContent { request.diskContent ?? configuration.diskContent }

    private func reporting(
        _ key: ImageKey, _ round: LoadKey.Round, _ body: () async throws -> ImageResponse
    ) async throws -> ImageResponse {
        do {
            let response = try await body()
            report(key, .finished(response.layer))
            return response
        } catch is CancellationError {
            report(key, .cancelled)
            throw CancellationError()
        } catch {
            let isMiss = round == .cached && (error as? PipelineError)?.code == .notInCache
            if !isMiss { report(key, .failed(error)) }
            throw error
        }
    }
}

extension ImageRequest {
    /// Whether more is asked for than the image as it came.
    fileprivate var isVariant: Bool { !key.variant.isEmpty }
}
