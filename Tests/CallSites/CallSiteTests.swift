import Alcedo
import AlcedoTesting
import FoundationEssentials
import Testing

/// The ten common tasks as a user writes them, with `import Alcedo` only. The comment above a test shows the same task
/// with Nuke 12 and with Kingfisher 8.
@Suite(.timeLimit(.minutes(5)))
struct CallSiteTests {
    private let origin: LoopbackOrigin
    private let pipeline: ImagePipeline
    private let url: URL
    private let data: Data

    init() throws {
        let data = try ImageEncoder.png().encode(.coordinates(PixelSize(width: 640, height: 480)))
        origin = try LoopbackOrigin { request in
            switch request.path {
            case "/image.png": .ok(data, type: "image/png")
            case "/slow.png": .ok(data, type: "image/png").stalling(at: .afterBody(data.count / 2))
            case "/dot": .ok(Data("DOT\u{50}".utf8), type: "image/x-dot")
            default: .status(404)
            }
        }
        var configuration = ImagePipeline.Configuration.standard(cacheDirectory: nil)
        configuration.diskCache = DataMemoryCache(sizeLimit: 64 << 20)
        pipeline = ImagePipeline(configuration)
        url = origin.url(for: "/image.png")
        self.data = data
    }

    // Nuke:        let image = try await ImagePipeline.shared.image(for: url)
    // Kingfisher:  let image = try await KingfisherManager.shared.retrieveImage(with: url).image
    @Test func `an image is loaded`() async throws {
        let image = try await pipeline.image(for: url)

        #expect(image.size == PixelSize(width: 640, height: 480))
        #expect(image.pixels.withUnsafeBytes { Array($0.prefix(4)) } == [0, 0, 128, 255])
    }

    // Nuke:        let options = ImageRequest.ThumbnailOptions(maxPixelSize: 320)
    //              let request = ImageRequest(url: url, userInfo: [.thumbnailKey: options])
    //              let image = try await ImagePipeline.shared.image(for: request)
    // Kingfisher:  let processor = DownsamplingImageProcessor(size: CGSize(width: 320, height: 320))
    //              let result = try await KingfisherManager.shared.retrieveImage(
    //                  with: url, options: [.processor(processor)])
    @Test func `a thumbnail is loaded`() async throws {
        let image = try await pipeline.image(for: url, fitting: PixelSize(width: 320, height: 320))

        #expect(image.size == PixelSize(width: 320, height: 240))
    }

    // Nuke:        let request = ImageRequest(url: url, processors: [.resize(width: 320), .circle()])
    // Kingfisher:  let processor = ResizingImageProcessor(
    //                  referenceSize: CGSize(width: 320, height: 240), mode: .aspectFit)
    //                  |> RoundCornerImageProcessor(radius: .widthFraction(0.5))
    @Test func `a request names processors, and its description shows them`() async throws {
        let request = ImageRequest(url: url, processors: [.resize(width: 320), .circle()])
        let image = try await pipeline.image(for: request)

        #expect(image.size == PixelSize(width: 240, height: 240))
        #expect(image.pixels.withUnsafeBytes { Array($0.prefix(4)) } == [0, 0, 0, 0])
        #expect(request.url == url)
        #expect(request.description.hasPrefix("\(url) (resize3:320x"))
    }

    // Nuke and Kingfisher give the error of the URL session, whose domain and code the app compares.
    @Test func `an unsupported scheme is a typed error of the load`() async throws {
        let request = ImageRequest(url: try #require(URL(string: "ftp://example.com/a.png")))

        let error = try #require(await #expect(throws: PipelineError.self) { try await pipeline.image(for: request) })
        #expect(error.code == .download)
        #expect((error.cause as? DownloadError)?.code == .unsupportedURL)
    }

    // Nuke:        catch ImagePipeline.Error.dataLoadingFailed(let error) where the app casts the error of its loader
    // Kingfisher:  catch let error where error.isInvalidResponseStatusCode(404)
    @Test func `the status that made a load fail is one expression`() async throws {
        let missing = origin.url(for: "/missing.png")
        let error = try #require(
            await #expect(throws: PipelineError.self) {
                try await pipeline.imageTask(with: missing).image
            })
        #expect(error.httpStatus == 404)
        let unreadable = await #expect(throws: PipelineError.self) {
            try await pipeline.image(for: URL(filePath: "/missing.png"))
        }
        #expect(unreadable?.httpStatus == nil)
    }

    // Nuke:        let (data, response) = try await ImagePipeline.shared.data(for: request)
    @Test func `the bytes of an image come with the response`() async throws {
        let response = try await pipeline.dataResponse(for: ImageRequest(url: url))
        #expect(response.data == data)
        #expect(response.layer == .network)
        #expect(response.httpResponse?.fields["Content-Type"] == "image/png")
        await pipeline.flush()
        let stored = try await pipeline.dataResponse(for: ImageRequest(url: url))
        #expect(stored.data == data)
        #expect(stored.layer == .disk)
        #expect(stored.httpResponse == nil)
    }

    // Nuke:        let task = ImagePipeline.shared.imageTask(with: request)
    //              for await progress in task.progress { show(progress.fraction) }
    //              let image = try await task.image
    // Kingfisher:  let task = KingfisherManager.shared.retrieveImage(
    //                  with: url, progressBlock: { received, total in show(received, total) },
    //                  completionHandler: { result in show(result) })
    @Test func `a task has its image and its progress as a sequence`() async throws {
        let task = pipeline.imageTask(with: ImageRequest(url: origin.url(for: "/slow.png")))
        var steps: [DownloadProgress] = []
        for await progress in task.progress {
            steps.append(progress)
            origin.release()
        }
        let image = try await task.image

        #expect(image.size == PixelSize(width: 640, height: 480))
        #expect(steps.first.map { $0.received < data.count } == true)
        #expect(steps.last == DownloadProgress(received: data.count, expected: data.count))
    }

    // Nuke:        for await response in imageTask.previews { show(response.image) }
    // Kingfisher:  imageView.kf.setImage(with: url, options: [.progressiveJPEG(.default)])
    @Test func `a task has its previews as a sequence`() async throws {
        var request = ImageRequest(url: origin.url(for: "/slow.png"))
        request.deliversPreviews = true
        let task = pipeline.imageTask(with: request)
        var sizes: [PixelSize] = []
        for await preview in task.previews {
            sizes.append(preview.image.size)
            // The second half of the bytes arrives after a preview of the first.
            origin.release()
        }

        #expect(sizes.first == PixelSize(width: 640, height: 480))
        #expect(try await task.image.size == PixelSize(width: 640, height: 480))
    }

    // Nuke:        let loading = Task { try await imageTask.image }
    //              loading.cancel()
    // Kingfisher:  downloadTask?.cancel()
    @Test func `canceling the task that awaits an image cancels its load`() async throws {
        let task = pipeline.imageTask(with: ImageRequest(url: origin.url(for: "/slow.png")))
        let loading = Task { try await task.image }
        try await origin.waitForStalls()

        loading.cancel()

        await #expect(throws: CancellationError.self) { try await loading.value }
        #expect(task.isCancelled)
        try await origin.waitForDisconnects()
    }

    // Nuke:        let prefetcher = ImagePrefetcher(pipeline: pipeline, maxConcurrentRequestCount: 4)
    //              prefetcher.startPrefetching(with: urls)
    // Kingfisher:  let prefetcher = ImagePrefetcher(urls: urls)
    //              prefetcher.maxConcurrentDownloads = 4
    //              prefetcher.start()
    @Test func `images are prefetched`() async throws {
        let urls = [url, origin.url(for: "/missing.png")]
        let prefetcher = ImagePrefetcher(pipeline: pipeline, maxConcurrentLoads: 4)
        prefetcher.start(urls)

        let report = try await prefetcher.report()
        #expect(report.description == "1 loaded, 0 skipped, 1 failed")
        #expect(pipeline.cachedImage(for: ImageRequest(url: url)) != nil)
    }

    // Nuke:        let container = pipeline.cache[request]
    //              pipeline.cache.storeCachedImage(ImageContainer(image: image), for: request)
    //              pipeline.cache.removeCachedImage(for: request)
    // Kingfisher:  try await ImageCache.default.store(image, forKey: key)
    //              let layer = ImageCache.default.imageCachedType(forKey: key)
    //              try await ImageCache.default.removeImage(forKey: key)
    @Test func `the cache is read, written and cleared by request`() async throws {
        let request = ImageRequest(url: url)
        #expect(pipeline.cache[request] == nil)

        try await pipeline.cache.store(.gray(side: 3), for: request)
        #expect(pipeline.cache[request]?.size == PixelSize(width: 3, height: 3))
        #expect(await pipeline.cache.contains(request) == [.memory, .original])

        await pipeline.cache.remove(request, from: .memory)
        #expect(pipeline.cache[request] == nil)
        #expect(await pipeline.cache.contains(request).description == "[original]")
        await pipeline.cache.remove(request)
        #expect(await pipeline.cache.contains(request).isEmpty)
        #expect(origin.requests.isEmpty)
    }

    // Nuke:        let response = try await pipeline.imageTask(with: url).response
    //              let status = (response.urlResponse as? HTTPURLResponse)?.statusCode
    //              let layer = response.cacheType
    // Kingfisher:  let result = try await KingfisherManager.shared.retrieveImage(with: url)
    //              let (layer, count) = (result.cacheType, result.data()?.count)
    //              // The URL response: ImageDownloaderDelegate.imageDownloader(_:didDownload:for:with:)
    @Test func `a result has the HTTP response, the metrics, the layer and the number of bytes`() async throws {
        let response = try await pipeline.load(url)

        #expect(response.httpResponse?.status == 200)
        #expect(response.httpResponse?.url == url)
        #expect(response.httpResponse?.fields["Content-Type"] == "image/png")
        #expect(try #require(response.metrics?.bytesReceived) > data.count)
        #expect(response.layer == .network)
        #expect(response.encodedByteCount == data.count)
    }

    // Nuke:        ImageDecoderRegistry.shared.register { _ in DotDecoder() }
    //              // For one request: ImagePipelineDelegate.imageDecoder(for:pipeline:)
    // Kingfisher:  let options: KingfisherOptionsInfo = [.processor(DotProcessor()), .cacheSerializer(DotSerializer())]
    //              imageView.kf.setImage(with: url, options: options)
    @Test func `a codec is added for a pipeline or for one request`() async throws {
        var request = ImageRequest(url: origin.url(for: "/dot"))
        await #expect(throws: PipelineError.self) { try await pipeline.image(for: request) }

        request.codecs = .standard.adding(.dot)
        let image = try await pipeline.image(for: request)

        #expect(image.size == PixelSize(width: 1, height: 1))
        #expect(image.format == .dot)
        #expect(image.pixels.withUnsafeBytes { Array($0.prefix(4)) } == [0x50, 0x50, 0x50, 0xFF])

        var configuration = ImagePipeline.Configuration.standard(cacheDirectory: nil)
        configuration.codecs = .standard.adding(.dot)
        let dots = ImagePipeline(configuration)
        let dot = try await dots.image(for: origin.url(for: "/dot"))

        #expect(dot.size == PixelSize(width: 1, height: 1))
        #expect(dot.format == .dot)
        #expect(dot.pixels.withUnsafeBytes { Array($0.prefix(4)) } == [0x50, 0x50, 0x50, 0xFF])
    }

    // Nuke:        let data = ImageEncoders.Default(compressionQuality: 0.8).encode(image)
    // Kingfisher:  let processor = DownsamplingImageProcessor(size: CGSize(width: 320, height: 320))
    //              let image = processor.process(item: .data(upload), options: KingfisherParsedOptionsInfo(nil))
    //              let data = image?.kf.jpegRepresentation(compressionQuality: 0.8)
    @Test func `encoded bytes are converted to another format and size`() throws {
        let thumbnail = try ImageConverter().convert(
            data, to: .webp(quality: 80), fitting: PixelSize(width: 320, height: 320))

        let info = try CodecRegistry.standard.inspect(thumbnail)
        #expect(info.format == .webp)
        #expect(info.size == PixelSize(width: 320, height: 240))
    }

    // Nuke:        NukeExtensions.loadImage(with: url, into: imageView)
    // Kingfisher:  imageView.kf.setImage(with: url)
    @Test @MainActor func `a view displays the image of a URL`() async throws {
        let view = View()
        let binder = ImageBinder(view: view, pipeline: pipeline)
        let response = try await withCheckedThrowingContinuation { continuation in
            binder.load(url) { continuation.resume(with: $0) }
        }

        #expect(response.layer == .network)
        #expect(!binder.isLoading)
        #expect(view.shown?.size == PixelSize(width: 640, height: 480))
    }
}

/// A view with the minimal implementation.
@MainActor private final class View: ImageDisplaying {
    private(set) var shown: DecodedImage?

    func display(_ content: DisplayContent) {
        shown = if case .image(let image, from: _) = content { image } else { nil }
    }
}

extension ImageFormat {
    fileprivate static let dot = ImageFormat(rawValue: "dot")
}

extension CodecRegistry.Entry {
    fileprivate static var dot: Self {
        Self(format: .dot, decoder: DotDecoder(), signatures: [Array("DOT".utf8)])
    }
}

/// A format of one gray pixel: `DOT`, then its level.
private struct DotDecoder: ImageDecoding {
    func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
        guard data.count == 4 else { throw ImageDecodingError(.truncated, "a dot has four bytes") }
        let info = ImageInfo(format: .dot, size: PixelSize(width: 1, height: 1), colorModel: .gray)
        return WholeImageReader(info) { _ throws(ImageDecodingError) in
            let level = data[data.endIndex - 1]
            let pixels = PixelBuffer(size: info.size, format: .rgba8, alphaMode: .opaque) { memory, _ in
                for channel in 0..<4 { memory[channel] = channel == 3 ? 255 : level }
            }
            guard let pixels else { throw ImageDecodingError(.outOfMemory, "cannot allocate the pixels") }
            return DecodedImage(pixels: pixels, format: .dot)
        }
    }
}
