import Alcedo
import AlcedoProgramSupport
import AlcedoRuntime
import AlcedoTesting
import FoundationEssentials

/// `alcedo-bench binding`
struct BindingBenchCommand: ProgramCommand {
    static let name = "binding"
    static let help = """
        usage: alcedo-bench binding [--binds N] [--rounds N]

        Measures the main-thread time of binding a request to a view: of the call for a new view, for a view that loads
        the same request or another one, and for an image in memory; and of the time until the image is shown, from a
        source that returns it immediately. Also counts the loads that a thousand binds of one view start.

          --binds N   bind N times per round (default: 10000)
          --rounds N  measure N rounds; the best counts (default: 7)

        """

    private var binds = 10_000
    private var rounds = 7

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--binds": binds = try arguments.number(of: option, in: 10...1_000_000)
        case "--rounds": rounds = try arguments.number(of: option, in: 1...1_000)
        default: return false
        }
        return true
    }

    func run() async throws -> ExitStatus {
        try await BindingBenchmark(binds: binds, rounds: rounds).run()
        return .success
    }
}

/// Measures the time of binds on the main actor.
@MainActor private struct BindingBenchmark {
    private static let imageCount = 100

    private let binds: Int
    private let rounds: Int
    private let requests: [ImageRequest]

    init(binds: Int, rounds: Int) throws {
        self.binds = binds
        self.rounds = rounds
        let data = try PNGEncoder().encode(.coordinates(PixelSize(width: 64, height: 64)))
        requests = (0..<Self.imageCount).map {
            ImageRequest(source: .bytes(data, identity: "\($0)"), processors: [.resize(width: 32)])
        }
    }

    func run() async throws {
        Console.output(BenchTable.row(["on the main thread", "µs per bind", "goal"]))
        await measureCalls()
        try await measureMemory()
        try await measureLoads()
    }

    /// Measures the calls alone, without the work of their loads.
    private func measureCalls() async {
        let loader = EndlessLoader()
        await report("new view") {
            let pairs = (0..<binds).map { _ in pair(loader) }
            return time { pairs[$0].binder.load(requests[$0 % requests.count]) }
        }
        let (view, binder) = pair(loader)
        binder.load(requests[0])
        await report("equal request") {
            time { _ in binder.load(requests[0]) }
        }
        await report("cancel, bind another") {
            time { binder.load(requests[$0 % requests.count]) }
        }
        binder.load(nil)
        await rest()
        let before = loader.loadCount
        for index in 0..<1_000 { binder.load(requests[index % requests.count]) }
        // The load of the last bind starts on another thread. Other loads would have started before it.
        while loader.loadCount == before { await rest() }
        Console.output(BenchTable.row(["loads started", "\(loader.loadCount - before) of 1000 binds", "1"]))
        withExtendedLifetime(view) { binder.cancel() }
    }

    private func measureMemory() async throws {
        let pipeline = HitStack.makePipeline()
        for request in requests { _ = try await pipeline.load(request) }
        let (view, binder) = pair(pipeline)
        await report("in memory") {
            time { binder.load(requests[$0 % requests.count]) }
        }
        guard case .image(_, from: .memory) = view.content else {
            throw BenchError(description: "an image was not found in memory")
        }
        await pipeline.shutDown()
    }

    /// Measures the time from the call until the view has the image, with a source that returns the image immediately.
    /// It includes the work on the main actor and two thread switches.
    private func measureLoads() async throws {
        let loader = PromptLoader(image: .gray(side: 1))
        let pairs = (0..<binds).map { _ in pair(loader) }
        await report("until displayed") {
            let start = ContinuousClock.now
            await withCheckedContinuation { ended in
                var missing = pairs.count
                for (index, pair) in pairs.enumerated() {
                    pair.binder.load(requests[index % requests.count]) { _ in
                        missing -= 1
                        if missing == 0 { ended.resume() }
                    }
                }
            }
            return ContinuousClock.now - start
        }
        for pair in pairs {
            guard case .image = pair.view.content else { throw BenchError(description: "the image was not loaded") }
        }
    }

    private func pair(_ loader: any ImageLoading) -> (view: BenchView, binder: ImageBinder) {
        let view = BenchView()
        return (view, ImageBinder(view: view, pipeline: loader))
    }

    private func time(_ bind: (_ number: Int) -> Void) -> Duration {
        ContinuousClock().measure {
            for number in 0..<binds { bind(number) }
        }
    }

    /// Prints the best time of all rounds.
    private func report(_ name: String, _ work: @MainActor () async -> Duration) async {
        var best = Duration.seconds(86_400)
        for _ in 0..<rounds {
            best = min(best, await work())
            await rest()
        }
        let microseconds = BenchTable.microseconds(best) / Double(binds)
        BenchFigure("binding: \(name)", microseconds, unit: " µs", .atMost(200)).record()
        Console.output(BenchTable.row([name, "\((microseconds * 100).rounded() / 100)", "below 200"]))
    }

    /// Returns when the main actor has run the jobs that were enqueued before.
    private func rest() async { await Task {}.value }
}

/// A view that only stores its content.
@MainActor private final class BenchView: ImageDisplaying {
    private(set) var content = DisplayContent.nothing

    func display(_ content: DisplayContent) { self.content = content }
}

/// A loader without cached images, whose loads run until they are canceled.
private final class EndlessLoader: ImageLoading {
    private let started = Locked(0)

    /// The number of loads that were started.
    var loadCount: Int { started.withLock { $0 } }

    func cachedImage(for request: ImageRequest) -> DecodedImage? { nil }

    func load(
        _ request: ImageRequest, priority: PriorityHandle, onUpdate: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> ImageResponse {
        started.withLock { $0 += 1 }
        // Cancellation ends the sleep.
        try await Task.sleep(for: .seconds(86_400))
        throw CancellationError()
    }
}

/// A loader without cached images that returns its image immediately.
private struct PromptLoader: ImageLoading {
    let image: DecodedImage

    func cachedImage(for request: ImageRequest) -> DecodedImage? { nil }

    func load(
        _ request: ImageRequest, priority: PriorityHandle, onUpdate: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> ImageResponse {
        ImageResponse(image: image, layer: .network)
    }
}
