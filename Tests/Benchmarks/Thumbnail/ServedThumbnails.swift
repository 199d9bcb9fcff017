import Alcedo
import AlcedoHTTP
import AlcedoProgramSupport
import AlcedoTesting
import Foundation

/// Thumbnails of all pictures of a server, by a process of ours and by one of Python's in turns.
struct ServedThumbnails {
    private struct ServedRun {
        /// Images a second: cold, from disk, from memory.
        var rates: [Double]
        /// Bytes, at most.
        var resident: Double
    }

    let files: ThumbnailFiles
    let python: String?
    let rounds: Int

    func run() async throws {
        guard NginxServer.isInstalled else { throw BenchError(description: "nginx is not installed") }
        let folder = try BenchDirectory(in: FileManager.default.temporaryDirectory)
        defer { folder.remove() }
        let server = try NginxServer(folder: folder.url)
        let served = folder.url.appending(path: "files/web")
        try FileManager.default.createDirectory(at: served, withIntermediateDirectories: false)
        for path in files.paths {
            let file = URL(filePath: path)
            try FileManager.default.copyItem(at: file, to: served.appending(path: file.lastPathComponent))
        }
        let base = "\(server.plainBase)/web/"
        var (ours, theirs) = ([ServedRun](), [ServedRun]())
        for round in 0...rounds {
            for pass in 0..<2 {
                if (round + pass) % 2 == 0 {
                    let result = try measureOurs(base, folder.url.appending(path: "cache-\(round)"))
                    if round > 0 { ours.append(result) }
                } else if let python {
                    let result = try measure("/usr/bin/env", [python, "-c", Self.program, base])
                    if round > 0 { theirs.append(result) }
                }
            }
        }
        report(ours, theirs)
    }

    private func measureOurs(_ base: String, _ cache: URL) throws -> ServedRun {
        defer { try? FileManager.default.removeItem(at: cache) }
        let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().path
        return try measure(program, ["thumbnail", "--load", base, "--cache", cache.path])
    }

    /// Lets a process load everything: it gets the names, and answers with images a second and resident bytes.
    private func measure(_ path: String, _ arguments: [String]) throws -> ServedRun {
        let process = try BenchProcess(path, arguments)
        try process.send(files.paths.map { URL(filePath: $0).lastPathComponent }.joined(separator: " "))
        let answer = try process.readLine()
        var values = answer.split(separator: " ").compactMap { Double($0) }
        guard let resident = values.popLast(), !values.isEmpty else {
            throw BenchError(description: "\(path): \(answer)")
        }
        return ServedRun(rates: values, resident: resident)
    }

    private func report(_ ours: [ServedRun], _ theirs: [ServedRun]) {
        func median(_ results: [ServedRun], _ value: (ServedRun) -> Double) -> String {
            DownloadSpeed.median(results.map(value)).map { "\(Int($0.rounded()))" } ?? "-"
        }
        let ratios = zip(ours, theirs).map { $0.rates[0] / $1.rates[0] }
        if let median = DownloadSpeed.median(ratios) {
            BenchFigure("1,000 from a server, over aiohttp with libvips", median, .atLeast(2)).record()
        }
        let ratio = DownloadSpeed.median(ratios).map { "\(($0 * 100).rounded() / 100)" } ?? "-"
        Console.output(
            BenchTable.row([
                "\(files.paths.count) from nginx", "ours, images/s", "aiohttp and libvips", "ours over theirs",
                "goal",
            ]))
        for (index, name) in ["cold", "from disk", "from memory"].enumerated() {
            let cells = index == 0 ? [median(theirs) { $0.rates[0] }, ratio, "2"] : []
            Console.output(BenchTable.row([name, median(ours) { $0.rates[index] }] + cells))
        }
        let resident = [ours, theirs].map { median($0) { $0.resident / Double(1 << 20) } }
        Console.output(BenchTable.row(["resident after cold, MiB"] + resident))
    }

    /// Reads a line of names; writes images a second and resident bytes at most. Keeps the thumbnails, as our memory
    /// cache does.
    private static let program = """
        import os, sys, time
        os.environ["VIPS_CONCURRENCY"] = "1"
        import asyncio, aiohttp, pyvips
        from concurrent.futures import ThreadPoolExecutor

        side, base = \(PipelineThumbnails.side), sys.argv[1]
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
                made.append(await loop.run_in_executor(pool, make, body))

        async def main():
            names = sys.stdin.readline().split()
            async with aiohttp.ClientSession() as session:
                start, made, left = time.perf_counter(), [], iter(names)
                await asyncio.gather(*(worker(session, left, made) for _ in range(\(ServedThumbnailLoad.width))))
                seconds = time.perf_counter() - start
            with open("/proc/self/status") as status:
                peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))
            print(len(names) / seconds, peak * 1024, flush=True)

        asyncio.run(main())
        """
}

/// What the process does that loads from a server: everything cold, by a new pipeline from disk, and from memory.
struct ServedThumbnailLoad {
    /// Loads at once.
    static let width = 16

    /// What a name is put behind.
    let base: String
    let cacheDirectory: URL

    /// Reads a line of names, and writes images a second of each, and resident bytes at most after the first.
    func run() async throws {
        let names = (Swift.readLine() ?? "").split(separator: " ")
        let requests = names.compactMap { URL(string: base + $0) }.map { url in
            PipelineThumbnails.request(.http(HTTPRequest(url: url)))
        }
        let first = pipeline
        let cold = try await rate(requests, first)
        let resident = ResidentMemory.peakByteCount
        await first.shutDown()
        let second = pipeline
        let fromDisk = try await rate(requests, second)
        let fromMemory = try await rate(requests, second)
        await second.shutDown()
        Console.output("\(cold) \(fromDisk) \(fromMemory) \(resident)\n")
    }

    /// The default stack, with room for all thumbnails.
    private var pipeline: ImagePipeline {
        ImagePipeline(.standard(cacheDirectory: cacheDirectory, memoryLimit: 768 << 20, diskLimit: 1 << 30))
    }

    private func rate(_ requests: [ImageRequest], _ pipeline: ImagePipeline) async throws -> Double {
        let time = try await ThumbnailTime.of {
            try await pipeline.loadAll(requests, maxConcurrentLoads: Self.width) { _, result in _ = try result.get() }
        }
        return Double(requests.count) / time.wall * 1_000
    }
}
