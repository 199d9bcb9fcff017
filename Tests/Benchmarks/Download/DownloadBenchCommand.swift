import Alcedo
import AlcedoHTTP
import AlcedoProgramSupport
import AlcedoTesting
import Foundation

/// `alcedo-bench download`
struct DownloadBenchCommand: ProgramCommand {
    static let name = "download"
    static let help = """
        usage: alcedo-bench download [options]

        Downloads bodies of 4 KB, 64 KB and 1 MB into memory from a server on this machine: from nginx if installed,
        otherwise from the origin of AlcedoTesting in a separate process, without TLS. Alternates between a C loop over
        libcurl's multi interface, the transport alone, the downloader, URLSession (without TLS, because a certificate
        authority cannot be added), and Python's aiohttp (without HTTP/2). Each URL is requested once. Prints requests
        per second and the speed of the downloader relative to the others, as medians of the rounds. Then prints the
        time from a cancellation until the server sees the closed socket.

          --rounds N        measure N rounds (default: 7)
          --turn N          measure each client for about N milliseconds per round (default: 500)
          --only TEXT       run only cases whose name contains TEXT; may be repeated
          --python PATH     use the Python interpreter PATH, which has aiohttp (default: python3)
          --origin          use the origin of AlcedoTesting even if nginx is installed
          --requests N      instead, print resident memory and open descriptors after N requests and after the first
                            1000
          --cancels N       time N cancellations (default: 200)

        """

    private var rounds = 7
    private var batchDuration = Duration.milliseconds(500)
    private var filters: [String] = []
    private var python = "python3"
    private var usesOrigin = false
    private var requests: Int?
    private var cancels = 200
    private var serves = false

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--rounds": rounds = try arguments.number(of: option, in: 1...1_000)
        case "--turn": batchDuration = .milliseconds(try arguments.number(of: option, in: 1...60_000))
        case "--only": filters.append(try arguments.value(of: option))
        case "--python": python = try arguments.value(of: option)
        case "--origin": usesOrigin = true
        case "--requests": requests = try arguments.number(of: option, in: 1...100_000_000)
        case "--cancels": cancels = try arguments.number(of: option, in: 1...1_000_000)
        // The option of the origin's process.
        case "--serve": serves = true
        default: return false
        }
        return true
    }

    mutating func finish(_ words: [String]) throws {
        try Self.rejectWords(words)
        if cases.isEmpty { throw UsageError("no case has this name; available: \(DownloadCase.names)") }
    }

    private var cases: [DownloadCase] {
        DownloadCase.all.filter { filters.isEmpty || filters.contains(where: $0.name.contains) }
    }

    func run() async throws -> ExitStatus {
        if serves {
            try OriginServer.serve()
            return .success
        }
        let scratch = try BenchDirectory(in: FileManager.default.temporaryDirectory)
        defer { scratch.remove() }
        let location = scratch.url
        let usesNginx = !usesOrigin && NginxServer.isInstalled
        let server: any BenchServer = usesNginx ? try NginxServer(directory: location) : try OriginServer()
        Console.output("server: \(server.name)\n")
        if let requests {
            for downloadCase in cases { try await DownloadMemory(server: server, count: requests).run(downloadCase) }
            return .success
        }
        let version = AIOHTTPPeer.version(python: python)
        Console.output("aiohttp: \(version ?? "not found")\n")
        let speed = DownloadSpeed(
            server: server, python: version == nil ? nil : python, rounds: rounds, batchDuration: batchDuration)
        try await speed.run(cases)
        try await CancelLatency(count: cancels).run()
        return .success
    }
}

/// Measures the time from the cancellation of a partly received download until the server detects the closed socket.
private struct CancelLatency {
    let count: Int

    func run() async throws {
        let origin = try LoopbackOrigin { _ in
            OriginReply.ok(Data(count: DownloadCase.large)).stalling(at: .afterBody(DownloadCase.small))
        }
        defer { origin.stop() }
        let downloader = Downloader(transport: CURLTransport())
        let url = origin.url(for: "/")
        var times: [Double] = []
        for number in 1...count {
            let task = Task {
                _ = try await downloader.download(DownloadRequest(.http(HTTPRequest(url: url))))
            }
            try await origin.waitUntil { $0.requestCount >= number && $0.stalledCount > 0 }
            let start = ContinuousClock.now
            task.cancel()
            try await origin.waitForDisconnects(count: number)
            times.append((ContinuousClock.now - start) / .milliseconds(1))
        }
        times.sort()
        let (median, maximum) = (times[count / 2], times[count - 1])
        BenchFigure("cancellation to closed socket, maximum of \(count)", maximum, unit: " ms", .atMost(5)).record()
        Console.output(
            "cancellation to closed socket: median \(Self.text(median)) ms, maximum of \(count) "
                + "\(Self.text(maximum)) ms (goal: < 5)\n")
    }

    private static func text(_ value: Double) -> Double { (value * 1_000).rounded() / 1_000 }
}
