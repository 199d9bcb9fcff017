import Alcedo
import AlcedoCore
import FoundationEssentials
import Synchronization

/// A serializer that writes every image as PNG, and counts its calls.
final class PlugInSerializer: CacheSerializer {
    let identifier = "plug-in"
    private let counts = Mutex((writes: 0, reads: 0))

    var writeCount: Int { counts.withLock { $0.writes } }
    var readCount: Int { counts.withLock { $0.reads } }

    func bytes(
        of image: DecodedImage, original: Data?, in context: CacheSerializationContext
    ) -> (data: Data, isOriginal: Bool)? {
        counts.withLock { $0.writes += 1 }
        return (try? ImageEncoder.png().encode(image)).map { ($0, false) }
    }

    func image(
        from data: Data, in context: CacheSerializationContext
    ) throws(ImageDecodingError) -> DecodedImage {
        counts.withLock { $0.reads += 1 }
        return try context.codecs.decode(data, options: context.decoding)
    }
}

/// An interceptor that adds a processor to each request, as a step of the load.
struct PlugInInterceptor: ImageLoadInterceptor {
    func load(
        _ request: ImageRequest, next: @Sendable (ImageRequest) async throws -> ImageResponse
    ) async throws -> ImageResponse {
        var request = request
        request.processors.append(PlugInPointProcessor())
        return try await LoadSpan.run("plug-in") { [request] in try await next(request) }
    }
}

/// An observer that records the layers of finished loads.
final class PlugInObserver: PipelineObserving {
    private let finished = Mutex<[ImageResponse.Layer]>([])

    var layers: [ImageResponse.Layer] { finished.withLock { $0 } }

    func pipelineDidReport(_ event: PipelineEvent) {
        if case .finished(let layer) = event.stage { finished.withLock { $0.append(layer) } }
    }
}

/// A tracer that counts the steps in progress, and records the names of those that have ended and their parents.
final class PlugInTracer: LoadTracing {
    private struct State {
        var open: [LoadSpan.ID: LoadSpan.Name] = [:]
        var ended: [(name: LoadSpan.Name, parent: LoadSpan.Name?)] = []
    }

    private let state = Mutex(State())

    var openCount: Int { state.withLock { $0.open.count } }

    func parents(of name: LoadSpan.Name) -> [LoadSpan.Name?] {
        state.withLock { state in state.ended.filter { $0.name == name }.map(\.parent) }
    }

    func spanDidBegin(_ span: LoadSpan) { state.withLock { $0.open[span.id] = span.name } }

    func spanDidEnd(_ span: LoadSpan) {
        state.withLock { state in
            let parent = span.parent.flatMap { state.open[$0] }
            state.ended.append((span.name, parent))
            state.open[span.id] = nil
        }
    }
}

/// A processor that inverts colors.
struct PlugInPointProcessor: PointProcessing {
    let identifier = "plug-in.invert"

    func operation(on header: PixelRowHeader) throws(ImageProcessingError) -> PointOperation? {
        guard !header.hasInks else { throw ImageProcessingError(.unsupportedFormat, "the image has inks") }
        return PointOperation(on: header) { pixels, _ in
            for index in pixels.indices {
                let alpha = pixels[index].w
                pixels[index] = 1 - pixels[index]
                pixels[index].w = alpha
            }
        }
    }
}

/// A policy that evicts the entry that was stored first.
struct PlugInEvictionPolicy: EvictionPolicy {
    private var slots: [Int] = []

    mutating func insert(_ slot: Int, hash: UInt64, cost: Int, fits: Bool) { slots.append(slot) }

    mutating func use(_ slot: Int) {}

    mutating func remove(_ slot: Int) { slots.removeAll { $0 == slot } }

    mutating func evict() -> Int? { slots.isEmpty ? nil : slots.removeFirst() }

    mutating func removeAll() { slots = [] }
}

/// A source of memory pressure with one observer, whose levels a test reports.
final class PlugInPressureSource: MemoryPressureSource {
    private final class Token: Sendable {
        private let source: PlugInPressureSource

        init(_ source: PlugInPressureSource) { self.source = source }

        deinit { source.handler.withLock { $0 = nil } }
    }

    private let handler = Mutex<(@Sendable (MemoryPressure) -> Void)?>(nil)

    func observe(_ handler: @escaping @Sendable (MemoryPressure) -> Void) -> any Sendable {
        self.handler.withLock { $0 = handler }
        return Token(self)
    }

    func report(_ level: MemoryPressure) { handler.withLock { $0 }?(level) }
}

/// A clock that a test advances. Sleeping ends at once.
final class PlugInClock: TimeSource {
    private let elapsed = Mutex(Duration.zero)

    var now: Date { Date(timeIntervalSinceReferenceDate: uptime / .seconds(1)) }
    var uptime: Duration { elapsed.withLock { $0 } }

    func sleep(for duration: Duration) async throws {
        try Task.checkCancellation()
        advance(by: duration)
    }

    func advance(by duration: Duration) { elapsed.withLock { $0 += duration } }
}

/// A value that a cache finds as long as a test holds it.
final class PlugInValue: WeaklyReferenceable {
    var weakReference: (@Sendable () -> PlugInValue?)? { { [weak self] in self } }
}

/// An animation of images of equal size, each shown for 100 milliseconds.
struct PlugInFrames: ImageFrameSource {
    let images: [PixelBuffer]

    var canvasSize: PixelSize { images[0].size }
    var frameCount: Int { images.count }
    var playCount: Int? { 3 }
    var cost: Int { images.reduce(0) { $0 + $1.height * $1.bytesPerRow } }

    func delay(at index: Int) -> Duration { .milliseconds(100) }

    func rawDelay(at index: Int) -> Duration { .milliseconds(100) }

    func frame(at index: Int) throws -> PixelBuffer { images[index] }
}

/// A view that records what it displays.
@MainActor final class PlugInView: ImageDisplaying {
    private(set) var image: DecodedImage?

    let displaySize = DisplaySize.any

    func display(_ content: DisplayContent) { image = content.image }
}
