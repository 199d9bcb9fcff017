import Alcedo
import AlcedoTesting
import ExampleSupport
import FoundationEssentials

/// Times what binds take of the main actor.
@MainActor struct BindingBenchmark {
    private static let imageCount = 100

    private let binds: Int
    private let rounds: Int
    private let requests: [ImageRequest]

    init(binds: Int, rounds: Int) throws {
        self.binds = binds
        self.rounds = rounds
        let data = try PNGEncoder().encode(.coordinates(PixelSize(width: 64, height: 64)))
        requests = (0..<Self.imageCount).map {
            ImageRequest(source: .bytes(data, identity: "\($0)"), processors: [Resize(width: 32)])
        }
    }

    func run() async throws {
        Console.output(BenchTable.row(["on the main thread", "microseconds a bind", "goal"]))
        await measureCalls()
        try await measureMemory()
        try await measureLoads()
    }

    /// The calls alone: what their loads do afterwards is not in them.
    private func measureCalls() async {
        let loader = EndlessLoader()
        await report("new view") {
            let pairs = (0..<binds).map { _ in pair(loader) }
            return time { pairs[$0].binder.bind(requests[$0 % requests.count]) }
        }
        let (view, binder) = pair(loader)
        binder.bind(requests[0])
        await report("equal request") {
            time { _ in binder.bind(requests[0]) }
        }
        await report("cancel, bind another") {
            time { binder.bind(requests[$0 % requests.count]) }
        }
        binder.bind(nil)
        await rest()
        let before = loader.loadCount
        for index in 0..<1_000 { binder.bind(requests[index % requests.count]) }
        // The last one begins, on another thread; others would have begun before it.
        while loader.loadCount == before { await rest() }
        Console.output(BenchTable.row(["loads begun", "\(loader.loadCount - before) of 1000 binds", "1"]))
        withExtendedLifetime(view) { binder.cancel() }
    }

    private func measureMemory() async throws {
        let pipeline = HitStack.makePipeline()
        for request in requests { _ = try await pipeline.load(request) }
        let (view, binder) = pair(pipeline)
        await report("in memory") {
            time { binder.bind(requests[$0 % requests.count]) }
        }
        guard case .image(_, from: .memory) = view.content else {
            throw BenchError(description: "an image is not in memory")
        }
        await pipeline.shutDown()
    }

    /// From the call to the image in the view, of a source that has it at once: what the main actor does for it, and the
    /// ways to another thread and back.
    private func measureLoads() async throws {
        let loader = PromptLoader(image: .gray(side: 1))
        let pairs = (0..<binds).map { _ in pair(loader) }
        await report("until it is shown") {
            let start = ContinuousClock.now
            await withCheckedContinuation { ended in
                var missing = pairs.count
                for (index, pair) in pairs.enumerated() {
                    pair.binder.bind(requests[index % requests.count]) { _ in
                        missing -= 1
                        if missing == 0 { ended.resume() }
                    }
                }
            }
            return ContinuousClock.now - start
        }
        for pair in pairs {
            guard case .image = pair.view.content else { throw BenchError(description: "an image was not loaded") }
        }
    }

    private func pair(_ loader: any ImageLoading) -> (view: BenchView, binder: ImageBinder) {
        let view = BenchView()
        return (view, ImageBinder(view: view, loader: loader))
    }

    private func time(_ bind: (_ number: Int) -> Void) -> Duration {
        ContinuousClock().measure {
            for number in 0..<binds { bind(number) }
        }
    }

    /// Prints the best of all rounds.
    private func report(_ name: String, _ work: @MainActor () async -> Duration) async {
        var best = Duration.seconds(86_400)
        for _ in 0..<rounds {
            best = min(best, await work())
            await rest()
        }
        let microseconds = BenchTable.microseconds(best) / Double(binds)
        BenchFigure("binding: \(name)", microseconds, unit: " µs", .atMost(200)).note()
        Console.output(BenchTable.row([name, "\((microseconds * 100).rounded() / 100)", "below 200"]))
    }

    /// Returns when the main actor has had its turns with what was begun.
    private func rest() async { await Task {}.value }
}
