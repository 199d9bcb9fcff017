import AlcedoProgramSupport
import FoundationEssentials

/// Measures the clients alternately and prints ratios.
struct DownloadSpeed {
    private enum Column: Int, CaseIterable {
        case loop, transport, downloader, session, python
    }

    /// The minimum rates of the downloader relative to other clients.
    private static let goals: [Column: (name: String, minimum: Double)] = [
        .loop: ("the C loop", 0.75), .session: ("URLSession", 12), .python: ("aiohttp", 3),
    ]

    let server: any BenchServer
    /// The path of a Python interpreter with aiohttp; nil to omit aiohttp.
    let python: String?
    let rounds: Int
    /// The approximate duration of one client in a round.
    let batchDuration: Duration

    func run(_ cases: [DownloadCase]) async throws {
        Console.output(
            Self.row([
                "", "C loop", "transport", "downloader", "vs C loop", "vs URLSession", "vs aiohttp",
            ]))
        for downloadCase in cases {
            guard let base = server.base(for: downloadCase) else { continue }
            let job = DownloadJob(downloadCase: downloadCase, base: base, authorityFile: server.authorityFile)
            try await measure(job)
        }
        Console.output(Self.row(["goal", "", "", "", ">= 0.75", ">= 12", ">= 3"]))
    }

    private func peers(_ job: DownloadJob) throws -> [(Column, any DownloadPeer)] {
        var peers: [(Column, any DownloadPeer)] = [
            (.loop, try MultiLoopPeer(job)), (.transport, TransportPeer(job)), (.downloader, DownloaderPeer(job)),
        ]
        if let session = URLSessionPeer(job) { peers.append((.session, session)) }
        if let python, let aiohttp = try AIOHTTPPeer(job, python: python) { peers.append((.python, aiohttp)) }
        return peers
    }

    private func measure(_ job: DownloadJob) async throws {
        let peers = try peers(job)
        var next = 0
        /// Returns the requests per second.
        func rate(_ peer: any DownloadPeer, _ count: Int) async throws -> Double {
            defer { next += count }
            return Double(count) / (try await peer.fetch(count, from: next) / .seconds(1))
        }
        var counts: [Int] = []
        for (_, peer) in peers {
            // The first call opens the connections and warms up. The second estimates the rate.
            _ = try await rate(peer, job.downloadCase.maxConcurrentRequests)
            let speed = try await rate(peer, job.downloadCase.maxConcurrentRequests)
            counts.append(max(job.downloadCase.maxConcurrentRequests, Int(speed * (batchDuration / .seconds(1)))))
        }
        var rates = Array(repeating: [Double](), count: Column.allCases.count)
        for round in 0..<rounds {
            // The order rotates, so that no client always follows the same one.
            for index in peers.indices.map({ ($0 + round) % peers.count }) {
                rates[peers[index].0.rawValue].append(try await rate(peers[index].1, counts[index]))
            }
        }
        report(job.downloadCase, rates)
    }

    /// Prints the medians of the rates, and the medians of the ratios of each round.
    private func report(_ downloadCase: DownloadCase, _ rates: [[Double]]) {
        func ratio(over other: Column) -> String {
            let pairs = zip(rates[Column.downloader.rawValue], rates[other.rawValue])
            guard let median = Self.median(pairs.map { $0 / $1 }) else { return "-" }
            if let (name, limit) = Self.goals[other] {
                BenchFigure("\(downloadCase.name): rate relative to \(name)", median, .atLeast(limit)).record()
            }
            return "\((median * 100).rounded() / 100)"
        }
        let speeds = [Column.loop, .transport, .downloader].map { column in
            Self.median(rates[column.rawValue]).map { "\(Int($0))" } ?? "-"
        }
        Console.output(
            Self.row([downloadCase.name] + speeds + [ratio(over: .loop), ratio(over: .session), ratio(over: .python)]))
    }

    static func median(_ values: [Double]) -> Double? {
        values.isEmpty ? nil : values.sorted()[values.count / 2]
    }

    private static func row(_ cells: [String]) -> String {
        let rest = cells.dropFirst().map { String(repeating: " ", count: max(1, 17 - $0.count)) + $0 }
        return cells[0] + String(repeating: " ", count: max(1, 30 - cells[0].count)) + rest.joined() + "\n"
    }
}
