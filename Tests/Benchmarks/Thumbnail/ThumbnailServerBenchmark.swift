import Alcedo
import AlcedoProgramSupport
import AlcedoTesting
import Foundation

/// Measures thumbnails of all images by thumbnail-server, alternately with Thumbor. thumbnail-server makes them with
/// the JPEG quality of Thumbor, which gives a higher PSNR, and with a lower one, whose PSNR is close to Thumbor's.
struct ThumbnailServerBenchmark {
    private static let connections = 16
    /// The JPEG quality of Thumbor.
    private static let quality = 80
    /// The JPEG qualities of thumbnail-server, and the goals for its rate relative to Thumbor.
    private static let variants = [
        (quality: quality, name: "quality \(quality)", goal: 2.0),
        (quality: 74, name: "PSNR no less than Thumbor's", goal: 2.5),
    ]

    /// The number of thumbnails whose PSNR is measured.
    private static let comparedCount = 100

    let files: ThumbnailFiles
    /// The path of the program; nil to omit Thumbor.
    let thumbor: String?
    /// The interpreter that compares thumbnails with the ideal; nil to omit the comparison.
    let python: String?
    let rounds: Int

    func run() async throws {
        guard NginxServer.isInstalled else { throw BenchError(description: "nginx is not installed") }
        let scratch = try BenchDirectory(in: FileManager.default.temporaryDirectory)
        defer { scratch.remove() }
        let origin = try NginxServer(directory: scratch.url)
        let served = scratch.url.appending(path: "files/web")
        try FileManager.default.createDirectory(at: served, withIntermediateDirectories: false)
        for (number, path) in files.paths.enumerated() {
            try FileManager.default.copyItem(at: URL(filePath: path), to: served.appending(path: "\(number)"))
        }
        var servers = try Self.variants.map { try Self.alcedo(for: "\(origin.plainBase)/web/", quality: $0.quality) }
        if let thumbor { servers.append(try Self.thumbor(thumbor, for: "\(origin.plainBase)/web/", scratch.url)) }
        var rates = servers.map { _ in [Double]() }
        for round in 0...rounds {
            // The order rotates, so that no server always follows the same one.
            for index in servers.indices.map({ ($0 + round) % servers.count }) {
                let time = try await servers[index].client.fetch(files.paths.count, from: 0)
                let seconds = time / .seconds(1)
                // The additional first round warms up and is not counted.
                if round > 0 { rates[index].append(Double(files.paths.count) / seconds) }
            }
        }
        report(rates, try servers.map { try $0.peakByteCount })
        guard let python else { return }
        let pipeline = ImagePipeline(.standard(cacheDirectory: nil))
        var values: [Double] = []
        for server in servers {
            let numbers = Dictionary(uniqueKeysWithValues: files.paths.enumerated().map { ($1, $0) })
            let means = try await ThumbnailQuality(python: python).means(
                of: Array(files.paths.prefix(Self.comparedCount))
            ) { path in
                guard let number = numbers[path], let url = URL(string: "\(server.base)\(number)") else {
                    throw BenchError(description: "no URL for \(path)")
                }
                return try await pipeline.data(for: ImageRequest(url: url))
            }
            values.append(means.first ?? 0)
        }
        await pipeline.shutDown()
        if values.count > Self.variants.count, let peer = values.last {
            // The peer's value is rounded as the table shows it.
            let limit = BenchFigure.Goal.atLeast(BenchTable.rounded(peer))
            for (variant, value) in zip(Self.variants, values) {
                BenchFigure("\(title), \(variant.name): PSNR in dB", value, limit).record()
            }
        }
        Console.output(BenchTable.row(["PSNR, dB"] + values.map { "\(BenchTable.rounded($0))" }))
    }

    private var title: String { "\(files.paths.count) thumbnails by thumbnail-server" }

    private func report(_ rates: [[Double]], _ peaks: [Int]) {
        Console.output(
            BenchTable.row(
                ["\(files.paths.count) JPEG thumbnails"]
                    + Self.variants.map { "alcedo, quality \($0.quality)" } + ["Thumbor, quality \(Self.quality)"]))
        let speeds = rates.compactMap { DownloadSpeed.median($0) }
        Console.output(BenchTable.row(["thumbnails/s"] + speeds.map { "\(Int($0.rounded()))" }))
        if rates.count > Self.variants.count, let peer = rates.last {
            let ratios = zip(Self.variants, rates).compactMap { variant, own -> String? in
                guard let ratio = DownloadSpeed.median(zip(own, peer).map { $0 / $1 }) else { return nil }
                let name = "\(title), \(variant.name): rate relative to Thumbor"
                BenchFigure(name, ratio, .atLeast(variant.goal)).record()
                return AlternatingRuns.text(ratio)
            }
            Console.output(BenchTable.row(["relative to Thumbor"] + ratios))
            Console.output(BenchTable.row(["goal"] + Self.variants.map { "at least \($0.goal)" }))
        }
        Console.output(BenchTable.row(["peak resident MiB"] + peaks.map { "\($0 >> 20)" }))
    }

    private static func alcedo(for origin: String, quality: Int) throws -> MeasuredServer {
        let directory = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        let program = directory.appending(path: "thumbnail-server").path
        guard FileManager.default.isExecutableFile(atPath: program) else {
            throw BenchError(description: "\(program) does not exist; build the product thumbnail-server")
        }
        let port = try freePort
        return try MeasuredServer(
            [program, "--listen", "127.0.0.1:\(port)", "--allow-private", "--no-cache"], port,
            path: "/thumbnail?w=320&h=320&format=jpeg&quality=\(quality)&url=\(escaped(origin))", connections)
    }

    private static func thumbor(_ program: String, for origin: String, _ directory: URL) throws -> MeasuredServer {
        let file = directory.appending(path: "thumbor.conf")
        try Data("STORAGE = 'thumbor.storages.no_storage'\n".utf8).write(to: file)
        let port = try freePort
        return try MeasuredServer(
            [program, "--ip=127.0.0.1", "--port=\(port)", "--processes=2", "--conf=\(file.path)", "--log-level=error"],
            port, path: "/unsafe/fit-in/320x320/filters:format(jpeg):quality(\(quality))/\(escaped(origin))",
            connections)
    }

    private static var freePort: Int {
        get throws {
            let origin = try LoopbackOrigin { _ in .status(204) }
            origin.stop()
            return origin.port
        }
    }

    private static func escaped(_ url: String) -> String {
        url.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? url
    }
}

/// A server of thumbnails in processes of its own, and its client.
private struct MeasuredServer {
    let client: MultiLoopPeer
    /// The URL of a thumbnail without the number of the file.
    let base: String
    private let process: BenchProcess

    /// Starts a server and waits until it accepts connections.
    init(_ command: [String], _ port: Int, path: String, _ connections: Int) throws {
        process = try BenchProcess("/bin/bash", ["-c", Self.shell, "server", "\(port)"] + command)
        guard try process.readLine() == "listening" else {
            throw BenchError(description: "\(command[0]) exited during startup")
        }
        let downloadCase = DownloadCase(wireProtocol: .plain, byteCount: 0, connections: connections)
        base = "http://127.0.0.1:\(port)\(path)"
        client = try MultiLoopPeer(DownloadJob(downloadCase: downloadCase, base: base, authorityFile: nil))
    }

    /// The sum of the peaks of resident bytes of all processes of the server.
    var peakByteCount: Int {
        get throws {
            try process.send("memory")
            return (Int(try process.readLine()) ?? 0) << 10
        }
    }

    /// The shell responds to each line with the resident memory in KiB, and ends the server when its input ends or a
    /// signal ends the shell. Job control gives the server its own process group, which Ctrl-C does not reach. SIGKILL
    /// is used because the shell may have been started with other signals blocked.
    private static let shell = """
        set -m
        port=$1
        shift
        "$@" >/dev/null &
        trap 'kill -KILL -- -$! 2>/dev/null' EXIT
        until (: </dev/tcp/127.0.0.1/$port) 2>/dev/null; do
            kill -0 $! 2>/dev/null || { echo exited; exit; }
            sleep 0.01
        done
        echo listening
        while read -r _; do
            for process in $(awk -v group=$! '$5 == group { print $1 }' /proc/[0-9]*/stat 2>/dev/null); do
                cat /proc/$process/status
            done | awk '/^VmHWM/ { sum += $2 } END { print sum }'
        done
        """
}
