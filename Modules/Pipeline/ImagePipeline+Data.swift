public import AlcedoCore
public import AlcedoHTTP
public import FoundationEssentials

/// The encoded bytes of an image with their origin.
public struct DataResponse: Sendable {
    /// The bytes as the source sent them.
    public var data: Data
    /// The layer that provided the bytes: `disk`, `network` or `local`.
    public var layer: ImageResponse.Layer
    /// The head of the HTTP response; nil for bytes from disk, and for a source other than HTTP.
    public var httpResponse: HTTPResponseHead?
    /// The metrics of the transfer; nil when it was not measured.
    public var metrics: HTTPTransferMetrics?
}

extension ImagePipeline {
    /// Returns the encoded bytes of a request's source, from the disk cache or the source.
    ///
    /// ```swift
    /// let bytes = try await pipeline.data(for: request)
    /// ```
    ///
    /// Stores the bytes on disk if the request's ``/AlcedoCore/ImageRequest/cachePolicy`` and the server permit it,
    /// regardless of the ``/AlcedoCore/DataCachePolicy``. Decodes only their header. Interceptors are not called.
    ///
    /// The bytes may be damaged behind the header. A caller that decodes them and finds this out removes them, so that
    /// the next call fetches others: `await pipeline.cache.remove(request, from: [.original, .response])`. A load of
    /// the image does this by itself.
    ///
    /// - Throws: ``PipelineError``, for example `decoding` when the header cannot be decoded, or `CancellationError`
    ///   when the task is canceled.
    public func data(for request: ImageRequest) async throws -> Data { try await dataResponse(for: request).data }

    /// Returns the encoded bytes of a request's source with their origin. Has the effects of ``data(for:)``, and throws
    /// its errors.
    public func dataResponse(for request: ImageRequest) async throws -> DataResponse {
        try await firstSuccess(request) { request, _ in try await sourceData(of: request) }
    }

    private func sourceData(of request: ImageRequest) async throws -> DataResponse {
        try await report.call(.data, request) {
            do {
                let original = try await original(for: resolved(request), PriorityHandle(request.priority)).original
                return DataResponse(
                    data: original.data, layer: original.layer, httpResponse: original.httpResponse,
                    metrics: original.metrics)
            } catch let error as PipelineError {
                throw error.naming(request.source)
            }
        }
    }

    /// Stores the bytes of a request's source on disk, unless the disk already has the data that the request needs.
    ///
    /// - Returns: True when the data was loaded and stored. False when it was already on disk, and for a local source.
    /// - Throws: The errors of ``data(for:)``, and ``PipelineError`` `notStored` when no cache kept the bytes.
    func storeOriginal(of request: ImageRequest, _ priority: PriorityHandle) async throws -> Bool {
        try await firstSuccess(request) { request, _ in try await storeSource(of: request, priority) }
    }

    private func storeSource(of request: ImageRequest, _ priority: PriorityHandle) async throws -> Bool {
        guard request.source.isWorthStoring else { return false }
        return try await report.call(.data, request) {
            do {
                let resolved = try await resolved(request)
                let layers = await cache.contains(resolved)
                let sufficientLayers: CachedLayers = store.policy(for: resolved).keepsVariants ? .disk : .original
                if resolved.cachePolicy.disk.reads, !layers.isDisjoint(with: sufficientLayers) { return false }
                let stored = try await original(for: resolved, priority).request
                await disk.flushEntry(stored.originalKey)
                guard await hasBytesOnDisk(stored) else {
                    throw PipelineError(.notStored, "the data was downloaded, but no disk cache stored it")
                }
                return true
            } catch let error as PipelineError {
                throw error.naming(request.source)
            }
        }
    }

    /// Whether the disk cache has the original bytes, or the response cache has the response outside memory.
    private func hasBytesOnDisk(_ request: ImageRequest) async -> Bool {
        if await disk.contains(request.originalKey) { return true }
        guard let responses = configuration.downloader.responseCache,
            let http = await resolver.cachedRequest(of: request)
        else { return false }
        return await responses.hasResponse(for: http, ignoringMemory: true)
    }

    /// Loads and stores the bytes of a resolved request. Returns them with the request whose keys they are stored
    /// under.
    private func original(
        for request: ImageRequest, isRepeated: Bool = false, _ priority: PriorityHandle
    ) async throws -> (original: Original, request: ImageRequest) {
        let sending = resolver.sending(request)
        let wait = try waits.begin(sending)
        defer { wait?.end() }
        let generation = generations.current(sending.originalKey.resource)
        let request = resolver.varyingNow(sending)
        let original: Original
        do {
            original = try await download.load(request, priority, isCancelable: true) { _ in }
        } catch is CancellationError where isShutDown && !Task.isCancelled {
            // The bytes were loaded in the task of a load that the shutdown has canceled.
            throw PipelineError.shutDown
        } catch let marker as VaryMarker {
            return try await self.original(
                for: resolver.learning(marker, request), isRepeated: isRepeated, priority)
        }
        do {
            _ = try await threads.run(priority: priority) { [codecs = request.codecs ?? configuration.codecs] in
                try codecs.inspect(original.data, limits: request.decoding.limits)
            }
        } catch let error as ImageDecodingError {
            let failure = PipelineError(.decoding(error.code), error.message, cause: error)
            if try await decode.isDecodable(original, of: request, priority) { throw failure }
            if original.layer == .disk, error.code == .unknownFormat || request.codecs != nil {
                // Another request may decode the stored bytes, so others replace them only if they are usable.
                guard download.mayReplace(original, of: request) else { throw failure }
                var changed = request
                changed.cachePolicy.disk.reads = false
                return try await self.original(for: changed, isRepeated: isRepeated, priority)
            }
            if download.reject(original, of: request, after: error.code), !isRepeated {
                original.reservation?.release()
                return try await self.original(for: request, isRepeated: true, priority)
            }
            if original.layer == .disk, error.code.meansDamage { await download.forget(request) }
            throw failure
        }
        let (keyed, current) = varying(
            request, by: original.varyingFields, from: original.layer, at: original.requestedAt,
            since: generation.joining(original.generation))
        let digest = original.data.digest
        decode.recordNewest(digest, of: keyed)
        await download.keep(original, digest: digest, for: keyed, since: current)
        return (original, keyed)
    }
}
