import AlcedoCore
import AlcedoMemoryCache
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct MetricsTests {
    private func pipeline(_ observers: [any PipelineObserving], _ downloader: FakeDownloader) -> ImagePipeline {
        ImagePipeline(
            ImagePipeline.Configuration(
                downloader: downloader, codecs: FakeCodec().registry, memoryCache: DictionaryMemoryCache(),
                diskCache: FakeDataCache(), observers: observers, writeTimeout: .seconds(3_600)))
    }

    @Test func `hits, misses with reasons, bytes and durations are counted`() async throws {
        let metrics = PipelineMetrics()
        let pipeline = pipeline([metrics], FakeDownloader(giving: level(7)))
        _ = try await pipeline.load(try web("a"))
        await pipeline.flush()
        _ = try await pipeline.load(try web("a"))
        _ = try await pipeline.load(
            try web("a") {
                $0.processors = [Brighten(step: 1)]
                $0.cachePolicy.memory = .none
            })
        _ = try await pipeline.load(try web("b") { $0.cachePolicy = .reload })

        let counts = metrics.snapshot
        #expect(counts.memoryHits == 1)
        #expect(counts.memoryMisses == [.notStored: 1, .notAllowed: 2])
        #expect(counts.diskHits.count == 1)
        #expect(counts.diskMisses == [.notStored: 1, .notAllowed: 1])
        #expect(counts.diskReadByteCount == 7)
        #expect(counts.downloadedByteCount == 14)
        #expect(counts.downloads.count == 2)
        #expect(counts.finished == 3)
        #expect(counts.failed == 0)
        #expect(counts.cancelled == 0)
        #expect(counts.decodes.count == 3)
        #expect(counts.processingSteps.count == 1)
        #expect(
            metrics.description
                == "finished 3, failed 0, canceled 0; memory 1 of 4, disk 1 of 3, downloads 2 (14 bytes)")
    }

    @Test func `a successful load that misses empty caches is one load and no failure`() async throws {
        let metrics = PipelineMetrics()
        let pipeline = pipeline([metrics], FakeDownloader(giving: level(7)))
        _ = try await pipeline.load(try web("a") { $0.showsCachedFirst = true })
        #expect(metrics.snapshot.finished == 1)
        #expect(metrics.snapshot.failed == 0)

        let offline = try web("b") {
            $0.showsCachedFirst = true
            $0.cachePolicy.allowsNetwork = false
        }
        await #expect(throws: PipelineError.self) { try await pipeline.load(offline) }
        #expect(metrics.snapshot.finished == 1)
        #expect(metrics.snapshot.failed == 1)
        // Each load has looked in memory once.
        #expect(metrics.snapshot.memoryMisses == [.notStored: 2])
    }

    @Test func `a load counts one miss in the statistics of the memory cache`() async throws {
        let memory = ImageMemoryCache(costLimit: 1 << 20)
        let pipeline = ImagePipeline(
            ImagePipeline.Configuration(
                downloader: FakeDownloader(giving: level(7)), codecs: FakeCodec().registry, memoryCache: memory))
        _ = try await pipeline.load(try web("a"))
        #expect(memory.statistics.misses == 1)
        #expect(memory.statistics.hits == 0)

        _ = try await pipeline.load(try web("a"))
        #expect(memory.statistics.misses == 1)
        #expect(memory.statistics.hits == 1)
        // Two more look-ups: the finished image, and the decoded one that memory has.
        _ = try await pipeline.load(try web("a") { $0.processors = [Brighten(step: 1)] })
        #expect(memory.statistics.misses == 2)
        #expect(memory.statistics.hits == 2)
    }

    @Test func `each step is logged as one line`() async throws {
        let lines = Watched<[String]>([])
        let logger = TextLogger { line in lines.update { $0.append(line) } }
        let pipeline = pipeline(
            [logger, PipelineMetrics()],
            FakeDownloader(giving: Data("fail:corrupt\n\u{1B}\u{85}\u{202E}\u{2028}".utf8)))
        let request = try web("a") { $0.additionalIdentifier = "x\ny" }
        _ = try? await pipeline.load(request)
        #expect(lines.value.count == 4)
        #expect(lines.value.first?.hasPrefix("memory miss (not stored): http://127.0.0.1/a") == true)
        #expect(lines.value.last?.hasPrefix("failed, ") == true)
        for line in lines.value {
            #expect(line.unicodeScalars.allSatisfy { $0.value >= 32 && ![0x85, 0x202E, 0x2028].contains($0.value) })
        }
    }

    @Test func `a logger writes the steps of its minimum level, with their levels`() async throws {
        let (all, important) = (Watched<[String]>([]), Watched<[String]>([]))
        let pipeline = pipeline(
            [
                TextLogger { level, line in all.update { $0.append("\(level) \(line)") } },
                TextLogger(minimumLevel: .info) { line in important.update { $0.append(line) } },
            ], FakeDownloader(giving: level(7)))
        for _ in 0..<2 { _ = try await pipeline.load(try web("a")) }
        let failing = Brighten(step: 1, error: ImageProcessingError(.tooLarge, "as told"))
        _ = try? await pipeline.load(try web("b") { $0.processors = [failing] })

        let words = all.value.map { $0.prefix { $0 != ":" } }
        #expect(words.first == "debug memory miss (not stored)")
        let expected = ["info finished from network", "info memory hit", "error failed, as told"]
        #expect(words.filter { !$0.hasPrefix("debug ") }.map { String($0) } == expected)
        let lines = important.value.map { $0.prefix { $0 != ":" } }
        #expect(lines == ["finished from network", "memory hit", "failed, as told"])
        #expect(PipelineEvent.Level.allCases.sorted() == PipelineEvent.Level.allCases)
    }

    @Test func `percentiles exceed the exact value by an eighth at most`() {
        var histogram = DurationHistogram()
        #expect(histogram.percentile(0.5) == .zero)
        #expect(histogram.count == 0)
        for milliseconds in 1...1_000 { histogram.add(.milliseconds(milliseconds)) }
        for part in [0.01, 0.5, 0.9, 0.99] {
            let exact = Duration.milliseconds(Int(part * 1_000))
            let found = histogram.percentile(part)
            #expect((exact...exact * 9 / 8 + .microseconds(1)).contains(found))
        }
        #expect(histogram.percentile(1) == .seconds(1))
        #expect(histogram.total == .milliseconds(500_500))
        histogram.add(.zero)
        histogram.add(.seconds(1 << 40))
        #expect(histogram.percentile(1) == .seconds(1 << 40))
        #expect(histogram.percentile(0) <= .microseconds(2))
        #expect(histogram.percentile(.nan) == histogram.percentile(0))
    }
}
