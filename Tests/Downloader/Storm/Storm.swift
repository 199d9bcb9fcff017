import AlcedoCore
import AlcedoDownloader
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// Starts, joins, raises and cancels downloads at random from several tasks, and records how each waiter ends.
struct Storm: Sendable {
    struct Ends: Sendable {
        /// How often each waiter received an outcome.
        var counts: [Int]
        var successes = 0
        var cancellations = 0
        var failures: [String: Int] = [:]
        /// The canceled waiters. No other may end so.
        var isCancelled: Set<Int> = []
        var problems: [String] = []
    }

    let downloader: Downloader
    let seed: UInt64
    let count: Int
    /// The directory of downloads to files.
    let directory: String
    /// The servers, without a trailing slash.
    let origins: [String]
    let ends: Watched<Ends>
    private let bell = AsyncStream<Void>.makeStream()

    init(
        _ downloader: Downloader, seed: UInt64, count: Int = 10_000, directory: String,
        origins: [String]
    ) {
        (self.downloader, self.seed, self.count) = (downloader, seed, count)
        (self.directory, self.origins) = (directory, origins)
        ends = Watched(Ends(counts: Array(repeating: 0, count: count)))
    }

    /// Returns when every waiter has its outcome.
    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<4 { group.addTask { try await work(worker) } }
            group.addTask {
                var reported = 0
                for await _ in bell.stream {
                    reported += 1
                    if reported == count { return }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Expects that the ends are right.
    func check() throws {
        let ends = ends.value
        #expect(ends.counts.allSatisfy { $0 == 1 }, "\(ends.counts.count { $0 != 1 }) have none or several")
        #expect(ends.problems.isEmpty, "\(ends.problems.prefix(5))")
        let story = "\(ends.successes) successes, \(ends.cancellations) cancellations, \(ends.failures)"
        #expect(ends.successes + ends.cancellations + ends.failures.values.reduce(0, +) == count, "\(story)")
        // The storm contained every kind of event.
        #expect(ends.successes > count / 10, "\(story)")
        #expect(ends.cancellations > count / 20, "\(story)")
        #expect(ends.failures.count > 2, "\(story)")
        let names = try FileManager.default.contentsOfDirectory(atPath: directory)
        #expect(!names.isEmpty, "no file")
        for name in names {
            let content = try Data(contentsOf: URL(filePath: "\(directory)/\(name)"))
            #expect(content == StormContent.body(of: Int(name) ?? 0), "\(name)")
        }
    }

    private func work(_ worker: Int) async throws {
        var generator = SeededGenerator(seed: seed &* 4 &+ UInt64(worker))
        var receipts: [(Int, DownloadReceipt)] = []
        var tasks: [(Int, Task<Void, Never>)] = []
        for waiter in stride(from: worker, to: count, by: 4) {
            let number = Int.random(in: 0..<StormContent.pathCount, using: &generator)
            let priority = LoadPriority.allCases.randomElement(using: &generator) ?? .normal
            guard let url = URL(string: "\(origins[number % origins.count])/\(number)") else { return }
            let request = DownloadRequest(.http(HTTPRequest(url: url)), priority: priority)
            switch Int.random(in: 0..<10, using: &generator) {
            case 0, 1:
                tasks.append((waiter, Task { await download(request, number, waiter) }))
            case 2:
                let receipt = downloader.start(request, to: "\(directory)/\(number)") {
                    end(waiter, $0.map { $0.byteCount == StormContent.body(of: number).count })
                }
                receipts.append((waiter, receipt))
            default:
                let receipt = downloader.start(request) {
                    end(waiter, $0.map { $0.data == StormContent.body(of: number) })
                }
                receipts.append((waiter, receipt))
            }
            if let (other, receipt) = receipts.suffix(12).randomElement(using: &generator) {
                switch Int.random(in: 0..<6, using: &generator) {
                case 0, 1:
                    ends.update { _ = $0.isCancelled.insert(other) }
                    downloader.cancel(receipt)
                case 2:
                    downloader.setPriority(LoadPriority.allCases.randomElement(using: &generator) ?? .low, of: receipt)
                default: break
                }
            }
            if waiter % 7 == 0, let (other, task) = tasks.suffix(4).randomElement(using: &generator) {
                ends.update { _ = $0.isCancelled.insert(other) }
                task.cancel()
            }
            if waiter % 501 == 0 {
                downloader.isPaused = true
                // Yields, because transfers in progress may or may not end during the pause. Any order must pass.
                await Interleaving.giveWay(times: 10)
                downloader.isPaused = false
            }
            // Some wait in the queue, most do not.
            try await eventually { downloader.transferCounts.waiting <= 60 }
            // Yields, so that the four workers alternate in varying order. Any order must pass.
            if waiter % 3 == 0 { await Interleaving.giveWay() }
        }
        downloader.isPaused = false
    }

    private func download(_ request: DownloadRequest, _ number: Int, _ waiter: Int) async {
        do {
            let content = try await downloader.download(request, progress: { _ in }).data
            end(waiter, .success(content == StormContent.body(of: number)))
        } catch {
            end(waiter, .failure(error))
        }
    }

    private func end(_ waiter: Int, _ result: Result<Bool, any Error>) {
        ends.update { ends in
            ends.counts[waiter] += 1
            switch result {
            case .success(true): ends.successes += 1
            case .success(false): ends.problems.append("waiter \(waiter) has other bytes")
            case .failure(is CancellationError):
                ends.cancellations += 1
                if !ends.isCancelled.contains(waiter) { ends.problems.append("waiter \(waiter) was not canceled") }
            case .failure(let error as DownloadError): ends.failures["\(error.code)", default: 0] += 1
            case .failure(let error): ends.problems.append("waiter \(waiter): \(error)")
            }
        }
        bell.continuation.yield()
    }
}
