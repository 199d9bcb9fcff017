public import AlcedoCore
import AlcedoHTTP

extension ImagePipeline {
    /// The cached images of this pipeline.
    public var cache: Cache { Cache(self) }

    /// The cached images of a pipeline, by the requests that load them.
    ///
    /// ```swift
    /// if let image = pipeline.cache[request] { show(image) }
    /// try await pipeline.cache.store(image, for: request)
    /// print(await pipeline.cache.contains(request))  // [memory, original]
    /// await pipeline.cache.remove(request)
    /// ```
    ///
    /// Storing and removing are changes of the request's resource: loads that are in progress then bring nothing of it to
    /// memory and disk. Requests are used as they are: interceptors are not asked.
    public struct Cache: Sendable {
        private let pipeline: ImagePipeline

        init(_ pipeline: ImagePipeline) { self.pipeline = pipeline }

        /// The finished image of a request in memory.
        ///
        /// Reading is ``ImagePipeline/cachedImage(for:)``: a look-up, after one `stat` of a local file
        /// (``/AlcedoCore/ImageRequest/tracksFileChanges``). Setting replaces the image in memory, at the request's scale,
        /// and leaves the disk as it is; setting nil removes it. Setting has no effect where the request's cache policy
        /// forbids writing to memory, for a partial image, without a memory cache, and after
        /// ``ImagePipeline/shutDown()``.
        public subscript(request: ImageRequest) -> DecodedImage? {
            get { pipeline.cachedImage(for: request) }
            nonmutating set {
                guard !pipeline.isShutDown else { return }
                let request = request.withFileVersion
                if let newValue {
                    _ = storeInMemory(newValue, request)
                } else {
                    removeFromMemory(request)
                }
            }
        }

        /// Stores an image as the finished image of a request: in memory, and on disk where the pipeline looks for it.
        /// Returns when it is there.
        ///
        /// The disk gets the image, encoded by ``Configuration/serializer``, when the request is for the image as it comes
        /// (no size, no processors), and otherwise when the pipeline or the request keeps processed images
        /// (``Configuration/dataCachePolicy``). A request for the image as it comes then finds it in place of the source's
        /// bytes, and so do requests that process it. Files and other local sources are not on disk as they come. The
        /// request's cache policy says which layers may be written; the response cache is never written.
        ///
        /// - Throws: ``PipelineError`` `notStored` when the disk does not get the image, for any reason, which is its
        ///   cause: memory then keeps it; and for a partial image, which no cache keeps. `shutDown` after
        ///   ``ImagePipeline/shutDown()``. `CancellationError` when the task is cancelled before the image is encoded;
        ///   later, the write continues.
        public func store(_ image: DecodedImage, for request: ImageRequest) async throws {
            guard !pipeline.isShutDown else { throw PipelineError.shutDown }
            guard !image.isPartial else { throw PipelineError(.notStored, "no cache keeps a partial image") }
            let request = await pipeline.versions.settled(request)
            let generation = storeInMemory(image, request)
            await pipeline.store.replaceOutdated(request)
            guard let generation, isKeptOnDisk(request) else { return }
            try await pipeline.processedImages.store(image, for: request, since: generation)
        }

        /// Returns the layers in which something of the request is cached; of a local file whose changes are tracked, of its
        /// current version. Reads no bytes, and does not count as a use.
        public func contains(_ request: ImageRequest) async -> CachedLayers {
            let request = await pipeline.versions.settled(request)
            let (key, originalKey) = (request.key, request.originalKey)
            var layers: CachedLayers = []
            if pipeline.memory.contains(key) { layers.insert(.memory) }
            if key != originalKey, await pipeline.disk.contains(key) { layers.insert(.processed) }
            if await pipeline.disk.contains(originalKey) { layers.insert(.original) }
            let configuration = pipeline.configuration
            if let responses = configuration.responseCache, case .http(let http) = request.source,
                await responses.hasResponse(for: configuration.downloader.completed(http))
            {
                layers.insert(.response)
            }
            return layers
        }

        /// Removes what is cached of the request. A response cache may still store a response that is in flight. Of a local
        /// file whose changes are tracked, removes the current version, and the last one before that this pipeline kept; all
        /// versions with `allVariants`.
        ///
        /// - Parameters:
        ///   - request: The request of the image.
        ///   - layers: The layers to remove from. Default: all.
        ///   - allVariants: Whether to remove everything that was made of the resource, by other requests too; `processed`
        ///     and `original` are one layer then. Default: false.
        public func remove(
            _ request: ImageRequest, from layers: CachedLayers = .all, allVariants: Bool = false
        ) async {
            let request = await pipeline.versions.settled(request)
            let (keys, originalKey) = (pipeline.versions.keys(of: request), request.originalKey)
            let (resource, disk) = (originalKey.resource, pipeline.disk)
            if layers.contains(.memory) {
                removeFromMemory(request, allVariants: allVariants)
            } else {
                pipeline.generations.recordChange(of: .resource(resource)) {}
                pipeline.process.forget(resource)
            }
            if !layers.isDisjoint(with: .disk) {
                await disk.flush()
                if allVariants {
                    await disk.removeResource(resource)
                } else {
                    for key in keys where layers.contains(.processed) && key != originalKey { await disk.remove(key) }
                    if layers.contains(.original) { await disk.remove(originalKey) }
                }
            }
            if layers.contains(.response), case .http(let http) = request.source {
                await pipeline.configuration.responseCache?.removeResponses(for: http)
            }
        }

        /// Removes everything from memory and disk. The response cache is emptied by its owner.
        public func removeAll() async {
            pipeline.generations.recordChange(of: .everything) { pipeline.memory.removeAll() }
            pipeline.process.forgetAll()
            await pipeline.disk.removeAll()
        }

        /// Returns the moment behind the change; nil when nothing may be stored.
        private func storeInMemory(_ image: DecodedImage, _ request: ImageRequest) -> Generation? {
            let resource = request.key.resource
            let generation = pipeline.generations.advance(of: resource) {}
            pipeline.process.forget(resource)
            var image = image
            image.scale = request.scale
            pipeline.memory.store(image, for: request, origin: nil, since: generation)
            return generation
        }

        private func removeFromMemory(_ request: ImageRequest, allVariants: Bool = false) {
            let resource = request.key.resource
            pipeline.generations.recordChange(of: .resource(resource)) {
                if allVariants {
                    pipeline.memory.removeResource(resource)
                } else {
                    pipeline.versions.keys(of: request).forEach(pipeline.memory.remove)
                }
            }
            pipeline.process.forget(resource)
        }

        /// Whether loads look for the finished image of a request on disk.
        private func isKeptOnDisk(_ request: ImageRequest) -> Bool {
            guard pipeline.configuration.diskCache != nil, request.cachePolicy.disk.writes else {
                return false
            }
            return request.isVariant ? pipeline.store.policy(for: request).keepsVariants : request.source.isWorthStoring
        }
    }
}
