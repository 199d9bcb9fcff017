public import AlcedoCore
import FoundationEssentials

/// The way of an image: memory, disk, download, decode, process, and back into the caches.
///
/// Equal requests share one load, requests for variants of one resource share its download. Cancelling a task leaves
/// the load; the load ends when nobody waits for it. Bytes reach the disk cache only after they have proved to be an
/// image, and never when the server forbids storing.
///
/// Errors are ``PipelineError``, or `CancellationError`.
public final class ImagePipeline: ImageLoading {
    private let configuration: Configuration
    private let report: Reporter
    private let originals: OriginalLoader
    private let decoding: BlockingExecutor
    private let loads = Coalescer<LoadKey, DownloadProgress, ImageResponse>()

    public init(_ configuration: Configuration) {
        self.configuration = configuration
        report = Reporter(observer: configuration.observer, clock: configuration.clock)
        originals = OriginalLoader(
            downloader: configuration.downloader, diskCache: configuration.diskCache,
            pendingWriteLimit: configuration.pendingWriteLimit, report: report)
        decoding = BlockingExecutor(name: "alcedo.decode", width: configuration.decodingWidth)
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
            if request.cachePolicy.memory.contains(.write) {
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
        do {
            let image = try await decode(original.data, request, key: key)
            await originals.keep(original, for: request)
            return ImageResponse(image: image, layer: original.layer, encodedByteCount: original.data.count)
        } catch let error as PipelineError {
            guard original.layer == .disk, error.meansDamage else { throw error }
            // What is on disk is no image, whatever its checksum says: forget it and ask the source.
            await originals.forget(request)
            var again = request
            again.cachePolicy.disk.remove(.read)
            return try await makeImage(again, key: key, progress: progress)
        }
    }

    private func decode(_ data: Data, _ request: ImageRequest, key: ImageKey) async throws -> DecodedImage {
        try await decoding.run(priority: request.priority) { [codecs = configuration.codecs, report] in
            var image: DecodedImage
            do throws(ImageDecodingError) {
                let start = report.now
                image = try codecs.decode(data, options: request.decoding)
                report(key, .decoded(image.size), since: start)
            } catch {
                throw PipelineError(.decoding(error.code), error.message, cause: error)
            }
            for processor in request.processors {
                do throws(ImageProcessingError) {
                    let start = report.now
                    image = try processor.process(image)
                    report(key, .processed(identifier: processor.identifier), since: start)
                } catch {
                    throw PipelineError(.processing, error.message, cause: error)
                }
            }
            return image
        }
    }
}
