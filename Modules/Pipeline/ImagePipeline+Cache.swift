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
    /// After an image is stored or removed, loads of its resource that were already in progress write nothing to memory
    /// and disk. Interceptors are not called.
    public struct Cache: Sendable {
        private let pipeline: ImagePipeline

        init(_ pipeline: ImagePipeline) { self.pipeline = pipeline }

        /// The finished image of a request in memory.
        ///
        /// Reading calls ``ImagePipeline/cachedImage(for:)``. Setting an image stores it in memory, with the request's
        /// scale. Setting nil removes the image from memory. Neither changes the disk. Setting also makes one `stat`
        /// call for a local file (``/AlcedoCore/ImageRequest/tracksFileChanges``).
        ///
        /// An image is not stored when the request's cache policy forbids writing to memory, when it is partial,
        /// without a memory cache, and when a modifier would have to change the request first: see
        /// ``/AlcedoCore/ImageRequest/modifyRequest``. After ``ImagePipeline/shutDown()``, setting has no effect.
        public subscript(request: ImageRequest) -> DecodedImage? {
            get { pipeline.cachedImage(for: request) }
            nonmutating set {
                guard !pipeline.isShutDown, let request = pipeline.resolver.resolveNow(request) else { return }
                if let newValue {
                    _ = storeInMemory(newValue, request)
                } else {
                    removeFromMemory(request)
                }
            }
        }

        /// Stores an image as the finished image of a request: in memory, and on disk where the pipeline looks for it.
        /// Returns when the write to disk has ended.
        ///
        /// ```swift
        /// try await pipeline.cache.store(image, for: request)
        /// ```
        ///
        /// The disk cache receives the image, encoded by the request's ``/AlcedoCore/ImageRequest/serializer`` or else
        /// by ``Configuration/serializer``, in two cases:
        ///
        /// - The request is for the original, and its source is not local. The image then replaces the original bytes,
        ///   for this request and for requests that process the original.
        /// - The request changes the image, for example with a target size or a processor, or has a serializer, and the
        ///   request's ``/AlcedoCore/ImageRequest/dataCachePolicy``, or else ``Configuration/dataCachePolicy``, keeps
        ///   processed images.
        ///
        /// The request's cache policy determines which of the two layers are written. The response cache is never
        /// written.
        ///
        /// - Throws: ``PipelineError`` `notStored` when the image could not be encoded or written to disk, with the
        ///   disk cache's error as its cause, if there is one; memory keeps the image. `notStored` also for a partial
        ///   image, which no cache keeps. `shutDown` after ``ImagePipeline/shutDown()``. `CancellationError` when the
        ///   task is canceled before the image is encoded; a later cancellation does not stop the write.
        public func store(_ image: DecodedImage, for request: ImageRequest) async throws {
            do {
                try await keep(image, for: request)
            } catch let error as PipelineError {
                throw error.naming(request.source)
            }
        }

        private func keep(_ image: DecodedImage, for request: ImageRequest) async throws {
            guard !pipeline.isShutDown else { throw PipelineError.shutDown }
            guard !image.isPartial else { throw PipelineError(.notStored, "a partial image cannot be cached") }
            let resolved = await known(try await pipeline.resolved(request))
            let (request, generation) = storeInMemory(image, resolved)
            await pipeline.store.replaceOutdated(request)
            guard let generation, isKeptOnDisk(request) else { return }
            let decode = pipeline.decode
            try await pipeline.processedImages.store(
                image, for: request, madeOf: await decode.newestDigest(of: request), since: generation)
            if request.key.isOriginal, let digest = await pipeline.download.storedDigest(of: request) {
                decode.recordNewest(digest, of: request)
            }
            await pipeline.disk.mark(request, since: generation)
        }

        /// Returns the layers that contain data of the request. For a local file whose changes are tracked, only data
        /// of the current version counts.
        ///
        /// Calls the modifiers of a request without an identifier; if one fails, no layer counts. Does not update the
        /// recency of the entries, except for an original whose server may vary it by fields of the request.
        public func contains(_ request: ImageRequest) async -> CachedLayers {
            guard let resolved = try? await pipeline.resolver.resolve(request) else { return [] }
            let request = await known(resolved)
            let (key, originalKey) = (request.key, request.originalKey)
            var layers: CachedLayers = []
            if pipeline.memory.contains(key) { layers.insert(.memory) }
            if key != originalKey, await pipeline.disk.contains(key) { layers.insert(.processed) }
            if await pipeline.disk.contains(originalKey) { layers.insert(.original) }
            if let responses = pipeline.configuration.downloader.responseCache,
                let http = await pipeline.resolver.cachedRequest(of: request),
                await responses.hasResponse(for: http, ignoringMemory: false)
            {
                layers.insert(.response)
            }
            return layers
        }

        /// Removes the cached data of a request.
        ///
        /// For a local file whose changes are tracked, this removes the data of the current version and of the version
        /// that this pipeline stored last; with `allVariants`, of all versions. Loads in flight store nothing.
        ///
        /// If a modifier fails, for example because the user has signed out, the request counts as the caller has made
        /// it. To remove the images of a user, call ``removeAll()``, or name the user by an
        /// ``/AlcedoCore/ImageRequest/additionalIdentifier`` and remove the images before the sign-out.
        ///
        /// - Parameters:
        ///   - request: The request of the image.
        ///   - layers: The layers to remove from. From the response cache, the responses to all requests for the same
        ///     URL are removed. Default: all.
        ///   - allVariants: Whether to remove all data of the resource, including that of other requests. `processed`
        ///     and `original` then count as one layer. Default: false.
        public func remove(
            _ request: ImageRequest, from layers: CachedLayers = .all, allVariants: Bool = false
        ) async {
            let request = await known((try? await pipeline.resolver.resolve(request)) ?? request.withFileVersion)
            let resource = request.originalKey.resource
            // Loads that begin before the end may find what is being removed, and store nothing.
            await pipeline.generations.submit(.resource(resource)) {
                if layers.contains(.memory) { removeAtOnce(request, allVariants: allVariants) }
            } _: {
                pipeline.process.forget(resource)
                await removeFromDisk(request, layers, allVariants: allVariants)
                if layers.contains(.response), let responses = pipeline.configuration.downloader.responseCache {
                    // A modifier may select another URL. If it fails, the URL is that of the caller.
                    if let http = await pipeline.resolver.cachedRequest(of: request) {
                        await responses.removeAllResponses(for: http)
                    } else if case .http(let http) = request.source {
                        await responses.removeAllResponses(for: http)
                    }
                }
            }.value
        }

        private func removeFromDisk(_ request: ImageRequest, _ layers: CachedLayers, allVariants: Bool) async {
            guard !layers.isDisjoint(with: .disk) else { return }
            let (disk, originalKey) = (pipeline.disk, request.originalKey)
            await disk.flush(originalKey.resource)
            if allVariants { return await disk.removeResource(originalKey.resource) }
            if layers.contains(.processed) {
                for key in pipeline.versions.keys(of: request) where key != originalKey { await disk.remove(key) }
            }
            if layers.contains(.original) { await disk.remove(originalKey) }
        }

        /// Removes everything from memory, from disk and from the response cache. Loads in flight store nothing. The
        /// pieces of interrupted downloads stay (see `ResumePolicy`); they are used for equal requests only.
        public func removeAll() async {
            await removeAllImages { await pipeline.configuration.downloader.responseCache?.removeAll() }
        }

        /// Removes all images and their bytes from memory and disk. Keeps the response cache, so a later load may find
        /// a response there.
        public func removeAllImages() async { await removeAllImages {} }

        private func removeAllImages(and removeOthers: @escaping @Sendable () async -> Void) async {
            await pipeline.generations.submit(.everything) {
                pipeline.memory.removeAll()
            } _: {
                pipeline.process.forgetAll()
                await pipeline.disk.removeAll()
                await removeOthers()
            }.value
        }

        /// Returns a resolved request with the keys that an earlier process has used, if the disk says that the
        /// resource varies.
        private func known(_ request: ImageRequest) async -> ImageRequest {
            guard case .http = request.source, request.variance == nil,
                let marker = await pipeline.disk.marker(request.originalKey)
            else { return request }
            return pipeline.resolver.learning(marker, request)
        }

        /// Stores an image in memory. Returns the request with the keys under which it is stored, and the generation
        /// after the change, or nil while another change is in progress.
        private func storeInMemory(_ image: DecodedImage, _ request: ImageRequest) -> (ImageRequest, Generation?) {
            let resource = request.key.resource
            let generation = pipeline.generations.advance(of: resource).after
            pipeline.process.forget(resource)
            // After the change, so that the keys are outdated only if the generation is, too.
            let request = pipeline.resolver.storing(request)
            var image = image
            image.scale = request.scale
            pipeline.memory.store(image, for: request, origin: nil, since: generation)
            return (request, generation)
        }

        private func removeFromMemory(_ request: ImageRequest) {
            let resource = request.key.resource
            pipeline.generations.recordChange(of: .resource(resource)) {
                removeAtOnce(request, allVariants: false)
            }
            pipeline.process.forget(resource)
        }

        private func removeAtOnce(_ request: ImageRequest, allVariants: Bool) {
            if allVariants {
                pipeline.memory.removeResource(request.key.resource)
            } else {
                pipeline.versions.keys(of: request).forEach(pipeline.memory.remove)
            }
        }

        /// Whether ``store(_:for:)`` writes the image of a request to disk.
        private func isKeptOnDisk(_ request: ImageRequest) -> Bool {
            guard pipeline.disk.hasCache(of: request.key), request.cachePolicy.disk.writes else { return false }
            return request.isVariant ? pipeline.store.policy(for: request).keepsVariants : request.source.isWorthStoring
        }
    }
}
