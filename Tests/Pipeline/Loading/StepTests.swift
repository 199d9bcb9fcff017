import AlcedoCore
import AlcedoPipeline
import AlcedoTesting
import Dispatch
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct StepTests {
    private let clock = ManualClock()

    private var waiting: FakeDownloader {
        FakeDownloader { [clock] _, _ in
            try await clock.sleep(for: .seconds(1))
            return Download(data: level(100))
        }
    }

    @Test func `the processed steps of one request are reused by a longer one`() async throws {
        let stack = Stack(FakeDownloader(giving: level(100)))
        let (a, b) = (Brighten(step: 1), Brighten(step: 2))
        _ = try await stack.load(try web("a") { $0.processors = [a] })

        let response = try await stack.load(try web("a") { $0.processors = [a, b] })

        #expect(response.image.level == 103)
        #expect(response.layer == .memory)
        #expect(a.runs.value == 1)
        #expect(b.runs.value == 1)
        #expect(stack.codec.decodes.value == 1)
        #expect(stack.downloader.count == 1)
    }

    @Test(arguments: [1, 16, 17])
    func `the last sixteen processors may be missing from a reused chain`(missing: Int) async throws {
        let stack = Stack(FakeDownloader(giving: level(100)), intermediateByteLimit: 0)
        let first = Brighten(step: 1)
        let others = (1...missing).map { _ in Brighten(step: 2) }
        _ = try await stack.load(try web("a") { $0.processors = [first] })

        let response = try await stack.load(try web("a") { $0.processors = [first] + others })

        #expect(response.image.level == UInt8(101 + 2 * missing))
        #expect(first.runs.value == (missing <= 16 ? 1 : 2))
        #expect(others.allSatisfy { $0.runs.value == 1 })
    }

    @Test func `concurrent requests share the decode, and each runs its own processors`() async throws {
        let stack = Stack(waiting)
        let (a, b, c) = (Brighten(step: 1), Brighten(step: 2), Brighten(step: 4))
        let lists = [[a], [a, b], [a, c], [a, b, c], [b]]
        let tasks = try lists.map { list in
            let request = try web("a") {
                $0.processors = list
                // Nothing is read from memory.
                $0.cachePolicy.memory = .none
            }
            return Task.immediate { try await stack.load(request).image.level }
        }
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))

        #expect(try await tasks[0].value == 101)
        #expect(try await tasks[1].value == 103)
        #expect(try await tasks[2].value == 105)
        #expect(try await tasks[3].value == 107)
        #expect(try await tasks[4].value == 102)
        #expect(stack.downloader.count == 1)
        #expect(stack.codec.decodes.value == 1)
        #expect(a.runs.value == 4)
        #expect(b.runs.value == 3)
        #expect(c.runs.value == 2)
    }

    @Test func `the decoded image is released before the second processor runs`() async throws {
        let stack = Stack(FakeDownloader(giving: level(100)), intermediateByteLimit: 0)
        let (decoded, isHeld) = (Watched<(@Sendable () -> DecodedImage?)?>(nil), Watched(true))
        let observing = Observing { image in decoded.update { $0 = image.weakReference } }
        let checking = Observing { _ in isHeld.update { $0 = decoded.value?() != nil } }
        let processors: [any ImageProcessing] = [observing, Brighten(step: 1), checking]

        let response = try await stack.load(try web("a") { $0.processors = processors })

        #expect(response.image.level == 101)
        #expect(decoded.value != nil)
        #expect(!isHeld.value)
    }

    @Test func `a canceled load runs no further processor`() async throws {
        let stack = Stack(FakeDownloader(giving: level(100)))
        let (begun, end) = (Watched(false), DispatchSemaphore(value: 0))
        let first = Held {
            begun.update { $0 = true }
            end.wait()
        }
        let second = Brighten(step: 1)
        let request = try web("a") { $0.processors = [first, second] }
        let task = Task { try await stack.load(request) }
        try await begun.waitUntil { $0 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        end.signal()
        await stack.pipeline.shutDown()
        #expect(second.runs.value == 0)
    }

    @Test func `requests for different color spaces share no step`() async throws {
        let stack = Stack(FakeDownloader(giving: level(50)), colorConverter: FakeColorConverter())
        let (a, b) = (Brighten(step: 1), Brighten(step: 2))
        var levels: [UInt8] = []
        for space in [OutputColorSpace.sRGB, .displayP3, .embedded, .displayP3] {
            let request = try web("a") {
                $0.colorSpace = space
                $0.processors = [a, b]
            }
            levels.append(try await stack.load(request).image.level)
        }

        #expect(levels == [53, 103, 53, 103])
        #expect(a.runs.value == 3)
        #expect(b.runs.value == 3)
        #expect(stack.log.words.filter { $0.hasPrefix("converted") } == ["converted to display-p3"])
    }

    @Test func `ten concurrent requests with different processors download and decode once`() async throws {
        let stack = Stack(waiting)
        let tasks = try (1...10 as ClosedRange<UInt8>).map { step in
            let request = try web("a") { $0.processors = [Brighten(step: step)] }
            return Task.immediate { try await stack.load(request).image.level }
        }
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))
        for (index, task) in tasks.enumerated() { #expect(try await task.value == UInt8(101 + index)) }
        #expect(stack.downloader.count == 1)
        #expect(stack.codec.decodes.value == 1)
    }

    @Test func `ten sequential requests with different processors download and decode once`() async throws {
        let stack = Stack(FakeDownloader(giving: level(100)))
        for step in 1...10 as ClosedRange<UInt8> {
            let request = try web("a") { $0.processors = [Brighten(step: step)] }
            #expect(try await stack.load(request).image.level == 100 + step)
        }
        #expect(stack.downloader.count == 1)
        #expect(stack.codec.decodes.value == 1)
    }

    @Test func `a common first step runs once, also sequentially`() async throws {
        let stack = Stack(FakeDownloader(giving: level(100)))
        let (a, b, c) = (Brighten(step: 1), Brighten(step: 2), Brighten(step: 4))
        _ = try await stack.load(try web("a") { $0.processors = [a, b] })
        let response = try await stack.load(try web("a") { $0.processors = [a, c] })
        #expect(response.image.level == 105)
        #expect(a.runs.value == 1)
        #expect(stack.codec.decodes.value == 1)
    }

    @Test func `unprocessed images are held up to a number of bytes`() async throws {
        let cost = try await Stack(FakeDownloader(giving: level(100))).load(try web("a")).image.cost
        // The bytes stay with the image until they are on disk.
        let stack = Stack(
            FakeDownloader(giving: level(100)), intermediateByteLimit: 2 * (cost + level(100).count))
        func load(_ name: String, _ step: UInt8) async throws {
            _ = try await stack.load(try web(name) { $0.processors = [Brighten(step: step)] })
        }
        for name in ["a", "b", "c"] { try await load(name, 1) }
        #expect(stack.codec.decodes.value == 3)

        for name in ["b", "c"] { try await load(name, 2) }
        #expect(stack.codec.decodes.value == 3)

        try await load("a", 2)
        #expect(stack.codec.decodes.value == 4)
    }

    @Test func `no intermediate image is kept with a limit of zero or against a request's policy`() async throws {
        let without = Stack(FakeDownloader(giving: level(100)), intermediateByteLimit: 0)
        let against = Stack(FakeDownloader(giving: level(100)))
        for step in 1...2 as ClosedRange<UInt8> {
            let request = try web("a") { $0.processors = [Brighten(step: step)] }
            _ = try await without.load(request)
            var uncached = request
            uncached.cachePolicy.memory = .none
            _ = try await against.load(uncached)
        }
        #expect(without.codec.decodes.value == 2)
        #expect(against.codec.decodes.value == 2)
    }

    @Test func `an image too large to hold is found while a processor uses it`() async throws {
        let stack = Stack(FakeDownloader(giving: level(100)), intermediateByteLimit: 1)
        let kept = try await stack.load(try web("a") { $0.processors = [Unchanged()] })
        _ = try await stack.load(try web("a") { $0.processors = [Brighten(step: 1)] })
        #expect(kept.image.level == 100)
        #expect(stack.codec.decodes.value == 1)
    }

    @Test func `a held image that was removed is not used`() async throws {
        let stack = Stack(changing)
        _ = try await stack.load(try web("a") { $0.processors = [Brighten(step: 1)] })
        await stack.pipeline.cache.remove(try web("a"), allVariants: true)
        let response = try await stack.load(try web("a") { $0.processors = [Brighten(step: 2)] })
        #expect(response.image.level == 103)
    }

    /// Returns level 100 first, then 101, and so on.
    private var changing: FakeDownloader {
        let last = Watched(99)
        return FakeDownloader { _, _ in
            let number = last.update { last -> Int in
                last += 1
                return last
            }
            return Download(data: level(number))
        }
    }

    @Test(arguments: [true, false])
    func `after newer bytes arrive the older image is not used`(isProcessed: Bool) async throws {
        let stack = Stack(changing)
        // In the memory cache, or only held for a while.
        let first = try web("a") { $0.processors = isProcessed ? [Brighten(step: 1)] : [] }
        _ = try await stack.load(first)
        var reload = first
        reload.cachePolicy = .reload
        reload.processors = [Brighten(step: 2)]
        #expect(try await stack.load(reload).image.level == 103)
        await stack.pipeline.flush()

        let other = try web("a") { $0.processors = [Brighten(step: 4)] }

        #expect(try await stack.load(other).image.level == 105)
        #expect(stack.downloader.count == 2)
    }

    @Test func `a held image is not used after a refresh, whatever the caches contain`() async throws {
        let stack = Stack(changing)
        _ = try await stack.load(try web("a") { $0.processors = [Brighten(step: 1)] })
        await stack.pipeline.flush()
        stack.memory.removeAll()
        await stack.disk.removeAll()
        let fresh = try web("a") {
            $0.showsCachedFirst = true
            $0.processors = [Brighten(step: 2)]
        }
        #expect(try await stack.load(fresh).image.level == 103)
        await stack.pipeline.flush()

        let other = try web("a") { $0.processors = [Brighten(step: 4)] }

        #expect(try await stack.load(other).image.level == 105)
    }

    @Test func `a failed step fails all requests that need it and no others`() async throws {
        let stack = Stack(waiting)
        let rejection = ImageProcessingError(.invalidParameter, "no")
        let bad = Brighten(step: 1, error: rejection)
        let lists: [[Brighten]] = [[bad], [bad, Brighten(step: 2)], [Brighten(step: 3)]]
        let tasks = try lists.map { list in
            let request = try web("a") { $0.processors = list }
            return Task.immediate { try await stack.load(request).image.level }
        }
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))
        for task in tasks[..<2] {
            let error = await #expect(throws: PipelineError.self) { try await task.value }
            #expect(error?.code == .processing)
            #expect(error?.cause as? ImageProcessingError == rejection)
        }
        #expect(try await tasks[2].value == 103)
    }

    /// A rare race: without the second lookup it occurred in about one of two hundred rounds.
    @Test func `requests that begin while others end download and decode once as well`() async throws {
        for _ in 0..<500 {
            let stack = Stack(FakeDownloader(giving: level(100)))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for step in 1...8 as ClosedRange<UInt8> {
                    let request = try web("a") { $0.processors = [Brighten(step: step)] }
                    group.addTask {
                        // Yields, because the race is between a load's last steps, which signal nothing.
                        for _ in 0..<step { await letOthersRun() }
                        _ = try await stack.load(request)
                    }
                }
                try await group.waitForAll()
            }
            #expect(stack.downloader.count == 1)
            #expect(stack.codec.decodes.value == 1)
        }
    }

    @Test func `the scale applies to its own request only`() async throws {
        let stack = Stack(FakeDownloader(giving: level(7)))
        let double = try web("a") { $0.scale = 2 }
        #expect(try await stack.load(double).image.scale == 2)
        #expect(try await stack.load(try web("a")).image.scale == 1)
        #expect(stack.pipeline.cachedImage(for: double)?.scale == 2)
        #expect(stack.memory.count == 2)
    }

    @Test func `a larger image in memory is used where the request allows it`() async throws {
        let stack = Stack(FakeDownloader(giving: level(7)))
        func sized(_ side: Int, _ accepts: Bool) throws -> ImageRequest {
            try web("a") {
                $0.decoding.target = TargetSize(width: side, height: side)
                $0.acceptsLargerCachedImage = accepts
            }
        }
        _ = try await stack.load(try sized(100, false))

        #expect(stack.pipeline.cachedImage(for: try sized(50, true)) != nil)
        #expect(stack.pipeline.cachedImage(for: try sized(50, false)) == nil)
        #expect(stack.pipeline.cachedImage(for: try sized(101, true)) == nil)
        let filling = try web("a") {
            $0.decoding.target = TargetSize(width: 50, height: 50, mode: .fill)
            $0.acceptsLargerCachedImage = true
        }
        #expect(stack.pipeline.cachedImage(for: filling) == nil)
        _ = try await stack.load(try web("a"))
        #expect(stack.pipeline.cachedImage(for: try sized(1_000, true)) != nil)
        #expect(try await stack.load(try sized(1_000, true)).layer == .memory)
    }

    @Test func `a larger image of another view is used where the request allows it`() async throws {
        let stack = Stack(FakeDownloader(giving: level(7)))
        func sized(_ side: Int) throws -> ImageRequest {
            try web("a") {
                $0.processors = [Resizing(side: side)]
                $0.viewTarget = TargetSize(width: side, height: side)
                $0.acceptsLargerCachedImage = true
            }
        }
        _ = try await stack.load(try sized(100))

        #expect(stack.pipeline.cachedImage(for: try sized(50)) != nil)
        #expect(stack.pipeline.cachedImage(for: try sized(101)) == nil)
    }
}

/// Stands for a resize: returns the image unchanged.
private struct Resizing: ImageProcessing {
    let side: Int
    var identifier: String { "resizing:\(side)" }

    func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage { image }
}

/// Calls a closure with the image, and returns a brighter one.
private struct Observing: ImageProcessing {
    let body: @Sendable (DecodedImage) -> Void

    init(_ body: @escaping @Sendable (DecodedImage) -> Void) { self.body = body }

    var identifier: String { "observing" }

    func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
        body(image)
        return .gray(side: 1, level: image.level)
    }
}

/// Returns the image unchanged.
private struct Unchanged: ImageProcessing {
    var identifier: String { "unchanged" }

    func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage { image }
}
