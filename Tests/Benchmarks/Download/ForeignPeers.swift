import Alcedo
private import CMultiLoop
import AlcedoRuntime
import Foundation
import FoundationNetworking

/// A C loop over libcurl's multi interface, as the upper bound of the rate.
///
/// The executor has one thread, so that one task at a time uses the loop.
final class MultiLoopPeer: DownloadPeer {
    private let thread = BlockingExecutor(name: "alcedo.bench.c", maxConcurrent: 1)
    /// The address of the loop.
    private let loop: UInt

    init(_ job: DownloadJob) throws {
        let loop = job.base.withCString { base in
            (job.authorityFile?.path ?? "").withCString { file in
                var options = alcedo_multi_loop_options(
                    base: base, width: job.downloadCase.connections, body_size: job.downloadCase.byteCount,
                    speaks_http2: job.downloadCase.wireProtocol == .multiplexed ? 1 : 0,
                    ca_file: job.authorityFile == nil ? nil : file)
                return alcedo_multi_loop_create(&options)
            }
        }
        guard let loop else { throw BenchError(description: "cannot create the C loop: out of memory") }
        self.loop = UInt(bitPattern: loop)
    }

    deinit {
        if let loop = OpaquePointer(bitPattern: loop) { alcedo_multi_loop_destroy(loop) }
    }

    func fetch(_ count: Int, from first: Int) async throws -> Duration {
        try await thread.run { [self] in
            guard let loop = OpaquePointer(bitPattern: loop) else { return .zero }
            var wrong = 0
            let time = ContinuousClock().measure { wrong = alcedo_multi_loop_run(loop, first, count) }
            guard wrong == 0 else { throw BenchError(description: "the C loop received \(wrong) invalid responses") }
            return time
        }
    }
}

/// `URLSession` with async calls. It is measured without TLS only, because it trusts only the system's authorities.
struct URLSessionPeer: DownloadPeer {
    let job: DownloadJob
    private let session: URLSession

    init?(_ job: DownloadJob) {
        guard job.downloadCase.wireProtocol == .plain else { return nil }
        self.job = job
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpMaximumConnectionsPerHost = job.downloadCase.connections
        session = URLSession(configuration: configuration)
    }

    func fetch(_ count: Int, from first: Int) async throws -> Duration {
        try await job.time(job.urls(count, from: first)) { url in
            try job.check(try await session.data(for: URLRequest(url: url)).0, from: "URLSession")
        }
    }
}

/// Python's aiohttp in a separate process. It does not support HTTP/2.
final class AIOHTTPPeer: DownloadPeer {
    private let thread = BlockingExecutor(name: "alcedo.bench.python", maxConcurrent: 1)
    private let process: BenchProcess

    /// Returns the version of an interpreter's aiohttp; nil if it is not installed.
    static func version(python: String) -> String? {
        let program = "import aiohttp; print(aiohttp.__version__)"
        let text = try? BenchProcess.output(of: "/usr/bin/env", [python, "-c", program])
        return text?.split(separator: "\n").first.map { String($0) }
    }

    init?(_ job: DownloadJob, python: String) throws {
        guard job.downloadCase.wireProtocol != .multiplexed else { return nil }
        process = try BenchProcess(
            "/usr/bin/env",
            [
                python, "-c", Self.program, job.base, "\(job.downloadCase.connections)",
                "\(job.downloadCase.maxConcurrentRequests)", "\(job.downloadCase.byteCount)",
                job.authorityFile?.path ?? "",
            ])
    }

    func fetch(_ count: Int, from first: Int) async throws -> Duration {
        try await thread.run { [process] in
            try process.send("\(first) \(count)")
            let line = try process.readLine()
            guard let seconds = Double(line) else { throw BenchError(description: "aiohttp: \(line)") }
            return .seconds(seconds)
        }
    }

    private static let program = """
        import asyncio, sys, time, ssl
        import aiohttp

        base, connections, width, size, authority = sys.argv[1], *map(int, sys.argv[2:5]), sys.argv[5]

        async def worker(session, numbers):
            for number in numbers:
                async with session.get(f"{base}{number}") as response:
                    body = await response.read()
                    if response.status != 200 or len(body) != size:
                        raise ValueError(f"{len(body)} of {size} bytes")

        async def main():
            context = ssl.create_default_context(cafile=authority) if authority else True
            connector = aiohttp.TCPConnector(limit=connections, ssl=context)
            async with aiohttp.ClientSession(connector=connector) as session:
                while line := await asyncio.to_thread(sys.stdin.readline):
                    first, count = map(int, line.split())
                    numbers = iter(range(first, first + count))
                    start = time.perf_counter()
                    try:
                        await asyncio.gather(*(worker(session, numbers) for _ in range(width)))
                        print(time.perf_counter() - start, flush=True)
                    except Exception as error:
                        print(repr(error), flush=True)

        asyncio.run(main())
        """
}
