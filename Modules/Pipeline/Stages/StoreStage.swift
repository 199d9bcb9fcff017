import AlcedoCore
import AlcedoHTTP

/// The stage that stores the results of a load in the caches: in memory immediately, on disk in the background.
struct StoreStage: Sendable {
    private let memory: MemoryStage
    private let disk: DiskStage
    private let processedImages: ProcessedImageStore
    private let download: DownloadStage
    private let versions: FileVersions
    /// The disk policy of requests that have none.
    private let policy: DataCachePolicy

    init(
        memory: MemoryStage, disk: DiskStage, processedImages: ProcessedImageStore, download: DownloadStage,
        versions: FileVersions,
        policy: DataCachePolicy
    ) {
        self.memory = memory
        self.disk = disk
        self.processedImages = processedImages
        self.download = download
        self.versions = versions
        self.policy = policy
    }

    /// Returns the disk policy of a request. An image that a closure returns is not stored, nor are images made of it.
    func policy(for request: ImageRequest) -> DataCachePolicy {
        if case .imageProvider = request.source { return .original }
        return request.dataCachePolicy ?? policy
    }

    /// Stores a loaded image in the layers that the policies select, unless the request's `shouldCache` returns false.
    /// Returns the response.
    func keep(_ loaded: LoadedImage, _ request: ImageRequest, since generation: Generation?) async -> ImageResponse {
        let response = response(loaded, request)
        guard request.shouldCache?(response) != false else { return response }
        let policy = policy(for: request)
        if let original = loaded.original, loaded.image.isIntact, let digest = loaded.origin?.digest {
            var isKept = policy.keepsOriginal(isVariant: request.isVariant)
            if !isKept { isKept = await replacesOriginal(original, digest, request) }
            if isKept { await download.keep(original, digest: digest, for: request, since: generation) }
        }
        await storeInMemory(response.image, of: loaded, request, since: generation)
        if policy.keepsVariants, request.isVariant, request.cachePolicy.disk.writes, loaded.isKeepable,
            loaded.image.isIntact
        {
            await keepProcessed(
                loaded, request, since: generation, hasOriginal: policy.keepsOriginal(isVariant: true))
        }
        return response
    }

    /// Returns whether the disk has other bytes of a request's source than a load has received. They are then replaced
    /// also under a policy that stores no originals, because images made of them would be older than this one.
    private func replacesOriginal(_ original: Original, _ digest: UInt64, _ request: ImageRequest) async -> Bool {
        guard original.writeToken?.isUsed == false, let stored = await download.storedDigest(of: request) else {
            return false
        }
        return stored != digest
    }

    /// Stores a processed image on disk.
    ///
    /// - Parameters:
    ///   - loaded: The image.
    ///   - request: The request of the image.
    ///   - generation: The generation when the work began, or nil when nothing must be stored.
    ///   - hasOriginal: Whether the policy keeps the original as well.
    private func keepProcessed(
        _ loaded: LoadedImage, _ request: ImageRequest, since generation: Generation?, hasOriginal: Bool
    ) async {
        guard let generation else { return }
        let knowsDisk = loaded.layer == .disk || hasOriginal && loaded.original != nil
        if !knowsDisk, request.variance == nil, case .http = request.source {
            // The load may not have seen on disk that the resource varied in an earlier process. Its marker would
            // protect this image when the resource varies again.
            disk.removeSoon(unvaried: request, unless: .none, since: generation)
        }
        await processedImages.keep(loaded, for: request, since: generation)
        // A stored original has its own marker.
        if !hasOriginal, loaded.origin?.allowsStoring == true { await disk.mark(request, since: generation) }
    }

    /// Stores an image from disk in memory, unless the request's `shouldCache` returns false. Returns the response.
    func keepInMemory(_ loaded: LoadedImage, _ request: ImageRequest, since generation: Generation?) async
        -> ImageResponse
    {
        let response = response(loaded, request)
        if request.shouldCache?(response) != false {
            await storeInMemory(response.image, of: loaded, request, since: generation)
        }
        return response
    }

    /// Records that the image of a request is stored, and removes the image of the previous version of its file.
    func replaceOutdated(_ request: ImageRequest) async {
        guard let outdated = versions.recordKept(request) else { return }
        memory.remove(outdated)
        await disk.removeSoon(outdated)
    }

    private func storeInMemory(
        _ image: DecodedImage, of loaded: LoadedImage, _ request: ImageRequest, since generation: Generation?
    ) async {
        guard loaded.isKeepable else { return }
        memory.store(image, for: request, origin: loaded.origin, since: generation)
        await replaceOutdated(request)
    }

    private func response(_ loaded: LoadedImage, _ request: ImageRequest) -> ImageResponse {
        var image = loaded.image
        image.scale = request.scale
        // An image from memory may still hold its bytes, but this load has not read them.
        let original = loaded.layer == .memory ? nil : loaded.original
        var response = ImageResponse(
            image: image, layer: loaded.layer, encodedByteCount: original?.data.count,
            httpResponse: original?.httpResponse, metrics: original?.metrics,
            data: original.flatMap { $0.data(for: request) })
        response.isOfModifier = loaded.isOfModifier
        response.sourceDigest = loaded.origin?.digest
        return response
    }
}
