import Alcedo
import FoundationEssentials

/// Python's aiohttp, in a process of its own. It speaks no HTTP/2.
final class AIOHTTPPeer: DownloadPeer {
    private let thread = BlockingExecutor(name: "alcedo.bench.python", width: 1)
    private let process: BenchProcess

    /// Returns the version of aiohttp that an interpreter has; nil when it has none.
    static func version(python: String) -> String? {
        let program = "import aiohttp; print(aiohttp.__version__)"
        let text = try? BenchProcess.output(of: "/usr/bin/env", [python, "-c", program])
        return text?.split(separator: "\n").first.map { String($0) }
    }

    init?(_ job: DownloadJob, python: String) throws {
        guard job.what.wire != .multiplexed else { return nil }
        process = try BenchProcess(
            "/usr/bin/env",
            [
                python, "-c", Self.program, job.base, "\(job.what.connections)", "\(job.what.width)",
                "\(job.what.byteCount)", job.authorityFile?.path ?? "",
            ])
    }

    func fetch(_ count: Int, from first: Int) async throws -> Duration {
        try await thread.run { [process] in
            try process.send("\(first) \(count)")
            let answer = try process.readLine()
            guard let seconds = Double(answer) else { throw BenchError(description: "aiohttp: \(answer)") }
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
