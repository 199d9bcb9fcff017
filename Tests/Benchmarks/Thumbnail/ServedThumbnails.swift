import Alcedo
import AlcedoHTTP
import AlcedoProgramSupport
import AlcedoTesting
import Foundation

/// Measures thumbnails of all images of a server, alternately with a process of the package and with a Python process.
struct ServedThumbnails {
    private struct ServedRun {
        /// The images per second: with empty caches, from disk, and from memory; without caches, only one value.
        var rates: [Double]
        /// The peak of resident memory, in bytes.
        var resident: Double
    }

    let files: ThumbnailFiles
    let python: String?
    let rounds: Int

    func run() async throws {
        guard NginxServer.isInstalled else { throw BenchError(description: "nginx is not installed") }
        let scratch = try BenchDirectory(in: FileManager.default.temporaryDirectory)
        defer { scratch.remove() }
        let server = try NginxServer(directory: scratch.url)
        let served = scratch.url.appending(path: "files/web")
        try FileManager.default.createDirectory(at: served, withIntermediateDirectories: false)
        for path in files.paths {
            let file = URL(filePath: path)
            try FileManager.default.copyItem(at: file, to: served.appending(path: file.lastPathComponent))
        }
        let base = "\(server.plainBase)/web/"
        var (alcedo, peer) = ([ServedRun](), [ServedRun]())
        for round in 0...rounds {
            for pass in 0..<2 {
                // The order alternates, so that no client always follows the other.
                if (round + pass) % 2 == 0 {
                    let cache = scratch.url.appending(path: "cache-\(round)")
                    let result = try measure(base, cache)
                    if round > 0 { alcedo.append(result) }
                } else if let python {
                    let result = try measurePeer(python, base, keepsThumbnails: true)
                    if round > 0 { peer.append(result) }
                }
            }
        }
        report(alcedo, peer)
        let thumbnails = PipelineThumbnails(maxConcurrentDecodes: 1)
        let quality = try await python.map { try ThumbnailQuality(python: $0) }?.means(
            of: Array(files.paths.prefix(200))
        ) {
            try ImageEncoder.png().encode(try await thumbnails.thumbnail(of: $0))
        }
        if let quality, quality.count > 2 {
            // The peer's value is rounded as the table shows it.
            let limit = BenchFigure.Goal.atLeast(BenchTable.rounded(quality[2]))
            BenchFigure("\(files.paths.count) thumbnails from a server: PSNR in dB", quality[0], limit).record()
            let values = [quality[0], quality[2]].map { "\(($0 * 10).rounded() / 10)" }
            Console.output(BenchTable.row(["PSNR, dB"] + values))
        }
        try compareWithoutCaches(base, keeping: peer)
    }

    /// Measures the pipeline without caches against the peer that releases the thumbnails. Also compares the resident
    /// memory with that of the peer that keeps them.
    private func compareWithoutCaches(_ base: String, keeping: [ServedRun]) throws {
        var (alcedo, peer) = ([ServedRun](), [ServedRun]())
        for _ in 0..<rounds {
            alcedo.append(try measure(base, nil))
            if let python { peer.append(try measurePeer(python, base, keepsThumbnails: false)) }
        }
        let title = "\(files.paths.count) thumbnails from a server, no caches"
        let other = "relative to aiohttp with libvips"
        let rate = ratio(alcedo, peer, "\(title): rate \(other)", .atLeast(2.5)) { $0.rates[0] }
        let memory = ratio(alcedo, peer, "\(title): resident memory \(other)", .atMost(0.5)) { $0.resident }
        let memoryWhileKept = ratio(
            alcedo, keeping, "\(title): resident memory \(other), which keeps the thumbnails", .atMost(0.5)
        ) { $0.resident }
        Console.output(
            BenchTable.row(["no caches", "Alcedo", "aiohttp with libvips", "ratio", "goal", "keeping all", "ratio"]))
        let rates = [alcedo, peer].map { Self.median($0) { $0.rates[0] } }
        Console.output(BenchTable.row(["images/s"] + rates + [rate, "at least 2.5"]))
        let sizes =
            [alcedo, peer].map(Self.mebibytes) + [memory, "at most 0.5", Self.mebibytes(keeping), memoryWhileKept]
        Console.output(BenchTable.row(["peak resident MiB"] + sizes))
    }

    /// Records the median of the ratios of each round, and returns its text.
    private func ratio(
        _ alcedo: [ServedRun], _ peer: [ServedRun], _ name: String, _ goal: BenchFigure.Goal,
        _ value: (ServedRun) -> Double
    ) -> String {
        guard let median = DownloadSpeed.median(zip(alcedo, peer).map { value($0) / value($1) }) else { return "-" }
        BenchFigure(name, median, goal).record()
        return "\((median * 100).rounded() / 100)"
    }

    private func measurePeer(_ python: String, _ base: String, keepsThumbnails: Bool) throws -> ServedRun {
        try measure("/usr/bin/env", [python, "-c", Self.program, base, keepsThumbnails ? "keep" : "release"])
    }

    /// Measures a process of the package. `cache` is the directory of its disk cache, or nil for no caches.
    private func measure(_ base: String, _ cache: URL?) throws -> ServedRun {
        defer { if let cache { try? FileManager.default.removeItem(at: cache) } }
        let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().path
        var words = ["thumbnail", "--load", base]
        if let cache { words += ["--cache", cache.path] }
        return try measure(program, words)
    }

    /// Measures a process that loads all images. It receives the names, and writes the images per second and the
    /// resident bytes.
    private func measure(_ path: String, _ arguments: [String]) throws -> ServedRun {
        let process = try BenchProcess(path, arguments)
        try process.send(files.paths.map { URL(filePath: $0).lastPathComponent }.joined(separator: " "))
        let line = try process.readLine()
        var values = line.split(separator: " ").compactMap { Double($0) }
        guard let resident = values.popLast(), !values.isEmpty else {
            throw BenchError(description: "\(path): \(line)")
        }
        return ServedRun(rates: values, resident: resident)
    }

    private func report(_ alcedo: [ServedRun], _ peer: [ServedRun]) {
        let name = "\(files.paths.count) thumbnails from a server: rate relative to aiohttp with libvips"
        let ratio = ratio(alcedo, peer, name, .atLeast(2.5)) { $0.rates[0] }
        Console.output(
            BenchTable.row([
                "\(files.paths.count) from nginx", "Alcedo, images/s", "aiohttp with libvips", "ratio",
                "goal",
            ]))
        for (index, name) in ["with empty caches", "from disk", "from memory"].enumerated() {
            let cells = index == 0 ? [Self.median(peer) { $0.rates[0] }, ratio, "2.5"] : []
            Console.output(BenchTable.row([name, Self.median(alcedo) { $0.rates[index] }] + cells))
        }
        Console.output(BenchTable.row(["peak resident MiB", Self.mebibytes(alcedo), Self.mebibytes(peer)]))
    }

    private static func median(_ runs: [ServedRun], _ value: (ServedRun) -> Double) -> String {
        DownloadSpeed.median(runs.map(value)).map { "\(Int($0.rounded()))" } ?? "-"
    }

    private static func mebibytes(_ runs: [ServedRun]) -> String { median(runs) { $0.resident / Double(1 << 20) } }

    /// The Python program. It reads a line of names, and writes the images per second and the peak of resident bytes.
    /// With `keep`, it keeps the thumbnails, as the memory cache of the pipeline does.
    private static let program = """
        import os, sys, time
        os.environ["VIPS_CONCURRENCY"] = "1"
        import asyncio, aiohttp, pyvips
        from concurrent.futures import ThreadPoolExecutor

        side, base, keeps = \(PipelineThumbnails.side), sys.argv[1], sys.argv[2] == "keep"
        pyvips.cache_set_max(0)
        pool = ThreadPoolExecutor(2)

        def make(body):
            return pyvips.Image.thumbnail_buffer(body, side, height=side, size="down").write_to_memory()

        async def worker(session, names, made):
            loop = asyncio.get_running_loop()
            for name in names:
                async with session.get(base + name) as response:
                    response.raise_for_status()
                    body = await response.read()
                thumbnail = await loop.run_in_executor(pool, make, body)
                if keeps:
                    made.append(thumbnail)

        async def main():
            names = sys.stdin.readline().split()
            async with aiohttp.ClientSession() as session:
                start, made, pending = time.perf_counter(), [], iter(names)
                workers = (worker(session, pending, made) for _ in range(\(ServedThumbnailLoad.maxConcurrentLoads)))
                await asyncio.gather(*workers)
                seconds = time.perf_counter() - start
            with open("/proc/self/status") as status:
                peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))
            print(len(names) / seconds, peak * 1024, flush=True)

        asyncio.run(main())
        """
}

/// The work of the loading process: it loads all images with empty caches, then with a new pipeline from disk, and then
/// from memory.
struct ServedThumbnailLoad {
    static let maxConcurrentLoads = 16

    /// The prefix of the URLs, which a name completes.
    let base: String
    /// The directory of the disk cache. If it is nil, there are no caches, and the images are loaded once.
    let cacheDirectory: URL?

    /// Reads a line of names. Writes the images per second of each pass, and the peak of resident bytes after the
    /// first.
    func run() async throws {
        let names = (Swift.readLine() ?? "").split(separator: " ")
        let requests = names.compactMap { URL(string: base + $0) }.map { url in
            PipelineThumbnails.request(.http(HTTPRequest(url: url)))
        }
        let first = pipeline
        let fromServer = try await rate(requests, first)
        let resident = ResidentMemory.peakByteCount
        await first.shutDown()
        guard cacheDirectory != nil else { return Console.output("\(fromServer) \(resident)\n") }
        let second = pipeline
        let fromDisk = try await rate(requests, second)
        let fromMemory = try await rate(requests, second)
        await second.shutDown()
        Console.output("\(fromServer) \(fromDisk) \(fromMemory) \(resident)\n")
    }

    /// A new pipeline with the default stack, whose caches have space for all thumbnails.
    private var pipeline: ImagePipeline {
        var configuration = ImagePipeline.Configuration.standard(
            cacheDirectory: cacheDirectory, memoryLimit: 768 << 20, diskLimit: 1 << 30)
        if cacheDirectory == nil {
            configuration.memoryCache = nil
            configuration.intermediateByteLimit = 0
        }
        return ImagePipeline(configuration)
    }

    private func rate(_ requests: [ImageRequest], _ pipeline: ImagePipeline) async throws -> Double {
        let time = try await ThumbnailTime.of {
            try await pipeline.loadAll(requests, maxConcurrentLoads: Self.maxConcurrentLoads) { _, result in
                _ = try result.get()
            }
        }
        return Double(requests.count) / time.wall * 1_000
    }
}
