public import AlcedoCore
import FoundationEssentials

/// The way of an image: memory, disk, download, decode, process, and back into the caches.
///
/// Equal requests share one load, requests for variants of one resource share its download. Cancelling a task leaves
/// the load; the load ends when nobody waits for it. Bytes reach the disk cache only after they have proved to be a whole
/// image, and never when the server forbids storing. A part of an image, which only a request that allows it gets, is
/// kept in no cache. Concurrent decodes share one budget of bytes.
///
/// Errors are ``PipelineError``, or `CancellationError`.
public final class ImagePipeline: ImageLoading {
    private let configuration: Configuration
    private let report: Reporter
    private let originals: OriginalLoader
    private let decoding: ImageDecodingStage
    private let loads = Coalescer<LoadKey, DownloadProgress, ImageResponse>()

    public init(_ configuration: Configuration) {
        self.configuration = configuration
        report = Reporter(observer: configuration.observer, clock: configuration.clock)
        originals = OriginalLoader(
            downloader: configuration.downloader, diskCache: configuration.diskCache,
            pendingWriteLimit: configuration.pendingWriteLimit, report: report)
        decoding = ImageDecodingStage(
            codecs: configuration.codecs,
            threads: DecodingThreads(
                codecs: configuration.codecs, width: configuration.decodingWidth,
                byteBudget: configuration.decodingByteBudget),
            report: report)
    }

    /// Returns the finished image if it is in memory. Synchronous, without a task: a look-up and nothing else.
    public func cachedImage(for request: ImageRequest) -> DecodedImage? {
        cachedImage(for: request.key, policy: request.cachePolicy)
    }

    public func load(
        _ request: ImageRequest, progress: (@Sendable (DownloadProgress) -> Void)? = nil
    ) async throws -> ImageResponse {
        let key = request.key
        if let image = cachedImage(for: key, policy: request.cachePolicy) {
            report(key, .memoryHit)
            return ImageResponse(image: image, layer: .memory)
        }
        report(key, .memoryMiss)
        return try await loads.value(for: LoadKey(request, key: key), onUpdate: progress) { report in
            try await self.run(request, key: key, progress: report)
        }
    }

    /// Returns when everything that was loaded so far and belongs on disk is there.
    public func flush() async { await originals.flush() }

    private func cachedImage(for key: ImageKey, policy: CachePolicy) -> DecodedImage? {
        policy.memory.contains(.read) ? configuration.memoryCache?.image(for: key) : nil
    }

    private func run(
        _ request: ImageRequest, key: ImageKey, progress: @escaping @Sendable (DownloadProgress) -> Void
    ) async throws -> ImageResponse {
        do {
            let response = try await makeImage(request, key: key, progress: progress)
            if request.cachePolicy.memory.contains(.write), !response.image.isPartial {
                configuration.memoryCache?.store(response.image, for: key)
            }
            report(key, .finished(response.layer))
            return response
        } catch is CancellationError {
            report(key, .cancelled)
            throw CancellationError()
        } catch {
            report(key, .failed(error))
            throw error
        }
    }

    private func makeImage(
        _ request: ImageRequest, key: ImageKey, progress: @escaping @Sendable (DownloadProgress) -> Void
    ) async throws -> ImageResponse {
        let original = try await originals.load(request, progress: progress)
        let response: ImageResponse
        do {
            let image = try await decoding.image(of: original.data, request, key: key)
            response = ImageResponse(image: image, layer: original.layer, encodedByteCount: original.data.count)
        } catch let error as PipelineError {
            guard original.layer == .disk, error.meansDamage else { throw error }
            return try await makeImageAnew(request, key: key, progress: progress)
        }
        guard response.image.isPartial else {
            await originals.keep(original, for: request)
            return response
        }
        guard original.layer == .disk else { return response }
        do {
            return try await makeImageAnew(request, key: key, progress: progress)
        } catch let error as PipelineError where error.meansNoBytes {
            // The part is all there is to have.
            return response
        }
    }

    /// What is on disk is no whole image, whatever its checksum says: forgets it and asks the source.
    private func makeImageAnew(
        _ request: ImageRequest, key: ImageKey, progress: @escaping @Sendable (DownloadProgress) -> Void
    ) async throws -> ImageResponse {
        await originals.forget(request)
        var again = request
        again.cachePolicy.disk.remove(.read)
        return try await makeImage(again, key: key, progress: progress)
    }
}
