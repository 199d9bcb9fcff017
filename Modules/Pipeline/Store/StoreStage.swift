import AlcedoCore

/// Puts what a load has made into the caches: into memory at once, onto disk in the background.
struct StoreStage: Sendable {
    private let memory: MemoryStage
    private let disk: DiskStage
    private let variants: DiskVariants
    private let download: DownloadStage
    private let versions: FileVersions
    private let policy: DataCachePolicy

    /// - Parameter policy: What is kept on disk of requests that do not say it themselves.
    init(
        memory: MemoryStage, disk: DiskStage, variants: DiskVariants, download: DownloadStage, versions: FileVersions,
        policy: DataCachePolicy
    ) {
        self.memory = memory
        self.disk = disk
        self.variants = variants
        self.download = download
        self.versions = versions
        self.policy = policy
    }

    /// What is kept on disk of a request.
    func policy(for request: ImageRequest) -> DataCachePolicy { request.dataCachePolicy ?? policy }

    /// Stores what was made in the layers that keep it, unless the request wants it in no cache. Returns the response.
    func keep(_ picture: LoadedImage, _ request: ImageRequest, since mark: Generation?) async -> ImageResponse {
        let response = response(picture, request)
        guard request.shouldCache?(response) != false else { return response }
        let policy = policy(for: request)
        if let original = picture.original, !picture.image.isPartial,
            policy.keepsOriginal(isVariant: request.isVariant)
        {
            await download.keep(original, for: request, since: mark)
        }
        await storeInMemory(response.image, of: picture, request, since: mark)
        if policy.keepsVariants, request.isVariant {
            await variants.keep(picture, for: request, since: mark)
        }
        return response
    }

    /// Stores an image that was found on disk in memory, unless the request wants it in no cache. Returns the response.
    func keepInMemory(_ picture: LoadedImage, _ request: ImageRequest, since mark: Generation?) async -> ImageResponse {
        let response = response(picture, request)
        if request.shouldCache?(response) != false {
            await storeInMemory(response.image, of: picture, request, since: mark)
        }
        return response
    }

    /// Notes that the image of a request is kept, and removes that of the version of its file that was kept before.
    func replaceOutdated(_ request: ImageRequest) async {
        guard let outdated = versions.noteKept(request) else { return }
        memory.remove(outdated)
        await disk.removeSoon(outdated)
    }

    private func storeInMemory(
        _ image: DecodedImage, of picture: LoadedImage, _ request: ImageRequest, since mark: Generation?
    ) async {
        guard picture.isCurrent else { return }
        memory.store(image, for: request, origin: picture.origin, since: mark)
        await replaceOutdated(request)
    }

    private func response(_ picture: LoadedImage, _ request: ImageRequest) -> ImageResponse {
        var image = picture.image
        image.scale = request.scale
        // Of an image from memory, the bytes may still be held; this load has not read them.
        let original = picture.layer == .memory ? nil : picture.original
        return ImageResponse(
            image: image, layer: picture.layer, encodedByteCount: original?.data.count,
            httpResponse: original?.httpResponse, metrics: original?.metrics)
    }
}
