import Alcedo
import AlcedoLibc
import AlcedoProgramSupport
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import thumbnail_server

/// The server with and without decoders in confined processes.
@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct SandboxedServerTests {
    private let program = Program(name: "thumbnail-server")

    /// Returns the metrics of a server once it has started this many workers.
    private func metrics(of port: Int, by client: CURLTransport, withWorkers count: Int) async throws -> String {
        var metrics = ""
        try await eventually {
            metrics = try await TestServer.get("/metrics", from: port, by: client).text
            return metrics.contains("\nthumbnail_sandbox_workers_started_total \(count)\n")
        }
        return metrics
    }

    @Test func `the options select whether decoders are confined`() throws {
        #expect(try ServerOptions([]).sandbox == .automatic)
        #expect(try ServerOptions(["--sandbox", "--sandbox"]).sandbox == .required)
        #expect(try ServerOptions(["--no-sandbox"]).sandbox == .off)
        #expect(throws: UsageError.self) { try ServerOptions(["--sandbox", "--no-sandbox"]) }
        #expect(throws: UsageError.self) { try ServerOptions(["--no-sandbox", "--sandbox"]) }
    }

    #if SVG
        @Test func `an SVG that makes librsvg 2.54 panic costs its own request, also without sandbox`() async throws {
            let matrices = [21, 27, 33].map { order in
                let numbers = String(repeating: "1 ", count: order * order)
                return "<feConvolveMatrix order='\(order)' kernelMatrix='\(numbers)'/>"
            }
            let filters = ["<feOffset x='1e9'/><feTile/>", "<feFlood x='99' width='1'/><feTile/>"] + matrices
            let origin = try LoopbackOrigin { request in
                let filter = Int(request.path.dropFirst().prefix { $0 != "." }).map { filters[$0] } ?? ""
                let text = """
                    <svg xmlns='http://www.w3.org/2000/svg' width='20' height='10'>
                    <filter id='f'>\(filter)</filter><rect width='9' height='9' filter='url(#f)'/></svg>
                    """
                return .ok(Data(text.utf8), type: "image/svg+xml")
            }
            defer { origin.stop() }
            let running = try program.start([
                "--listen", "127.0.0.1:0", "--no-cache", "--allow-private", "--no-sandbox", "--jobs", "1",
            ])
            try await running.waitUntil("the server listens") { try running.outputSoFar.hasSuffix("\n") }
            let address = try running.outputSoFar.split(separator: ":")
            let port = try #require(address.last.flatMap { Int($0.dropLast()) })
            let client = CURLTransport()
            func status(_ path: String) async throws -> Int {
                let url = QueryItems.encoded(origin.url(for: path).absoluteString)
                return try await TestServer.get("/thumbnail?url=\(url)&w=16", from: port, by: client).status
            }

            for index in filters.indices {
                // The second one is refused only where librsvg panics.
                let accepted = index == 1 ? [200, 413, 422] : [413]
                #expect(accepted.contains(try await status("/\(index).svg")), "\(filters[index].prefix(60))")
                #expect(try await status("/good.svg") == 200)
            }
            running.process.send(SIGTERM)
            #expect(try await running.outcome().status == 0)
        }
    #endif

    #if HEIF && Sandbox
        @Test func `a server without sandbox has processes for HEIF`() {
            let settings = ServerStack.Settings()

            #expect(ServerCodecs.workerCount(.off, settings) == settings.threadCount)
        }

        @Test(.enabled(if: !keepsFreedMemory && !recordsAccesses, "sanitizers map terabytes"))
        func `HEIF is decoded in processes with the settings of the server, also without sandbox`() async throws {
            let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            let image = try Data(contentsOf: tests.appending(path: "HEIF/Fixtures/half.heic"))
            let origin = try LoopbackOrigin { _ in .ok(image, type: "image/heic") }
            defer { origin.stop() }
            let running = try program.start([
                "--listen", "127.0.0.1:0", "--no-cache", "--allow-private", "--no-sandbox", "--jobs", "1",
            ])
            try await running.waitUntil("the server listens") { try running.outputSoFar.hasSuffix("\n") }
            let address = try running.outputSoFar.split(separator: ":")
            let port = try #require(address.last.flatMap { Int($0.dropLast()) })
            let client = CURLTransport()
            let url = QueryItems.encoded(origin.url(for: "/half.heic").absoluteString)

            let response = try await TestServer.get("/thumbnail?url=\(url)&w=16", from: port, by: client)
            let metrics = try await metrics(of: port, by: client, withWorkers: 3)
            running.process.send(SIGTERM)
            let outcome = try await running.outcome()

            #expect(response.status == 200)
            #expect(try CodecRegistry.standard.inspect(response.body).size == PixelSize(width: 16, height: 16))
            #expect(metrics.contains("\nthumbnail_sandbox_enabled 0\n"))
            let notice = "the sandbox is off: --no-sandbox was given; only HEIF is decoded in it"
            #expect(outcome.status == 0)
            #expect(outcome.problems == "thumbnail-server: \(notice)\n")
        }
    #else
        @Test func `a server without sandbox has no processes, and a notice`() throws {
            let codecs = try ServerCodecs.start(.off, ServerStack.Settings())

            #expect(codecs.notice == "the sandbox is off: --no-sandbox was given")
            #expect(codecs.sandboxCounts == nil)
            #expect(ServerCodecs.workerCount(.off, ServerStack.Settings()) == 0)
        }
    #endif

    @Test func `the metrics contain the counts of the sandbox`() {
        let counts = SandboxCounts(
            isComplete: true, failures: [("crash", 2), ("time", 0)], startedWorkers: 3, recycledWorkers: 5,
            lostWorkers: 7)

        let text = ServerMetrics().text(
            inFlight: 0, ThumbnailCache.WriteStatistics(), sharedStore: nil, sandbox: counts,
            PipelineMetrics().snapshot)
        let alone = ServerMetrics().text(
            inFlight: 0, ThumbnailCache.WriteStatistics(), sharedStore: nil, PipelineMetrics().snapshot)

        #expect(text.contains("\nthumbnail_sandbox_failures_total{reason=\"crash\"} 2\n"))
        #expect(text.contains("\nthumbnail_sandbox_failures_total{reason=\"time\"} 0\n"))
        #expect(text.contains("\nthumbnail_sandbox_workers_started_total 3\n"))
        #expect(text.contains("\nthumbnail_sandbox_workers_recycled_total 5\n"))
        #expect(text.contains("\nthumbnail_sandbox_workers_lost_total 7\n"))
        #expect(text.contains("\nthumbnail_sandbox_enabled 1\n"))
        #expect(alone.contains("\nthumbnail_sandbox_enabled 0\n"))
        #expect(!alone.contains("thumbnail_sandbox_workers"))
    }

    #if Sandbox
        @Test(.enabled(if: !keepsFreedMemory && !recordsAccesses, "sanitizers map terabytes"))
        func `originals are decoded in confined processes`() async throws {
            let origin = try LoopbackOrigin(handler: TestServer.images)
            defer { origin.stop() }
            let running = try program.start([
                "--listen", "127.0.0.1:0", "--no-cache", "--allow-private", "--sandbox", "--jobs", "1",
            ])
            try await running.waitUntil("the server listens") { try running.outputSoFar.hasSuffix("\n") }
            let address = try running.outputSoFar.split(separator: ":")
            let port = try #require(address.last.flatMap { Int($0.dropLast()) })
            let client = CURLTransport()
            let url = QueryItems.encoded(origin.url(for: "/opaque.png").absoluteString)

            let response = try await TestServer.get("/thumbnail?url=\(url)&w=16", from: port, by: client)
            let metrics = try await metrics(of: port, by: client, withWorkers: 3)
            running.process.send(SIGTERM)
            let outcome = try await running.outcome()

            #expect(response.status == 200)
            #expect(try CodecRegistry.standard.inspect(response.body).size == PixelSize(width: 16, height: 12))
            #expect(metrics.contains("\nthumbnail_sandbox_failures_total{reason=\"crash\"} 0\n"))
            #expect(metrics.contains("\nthumbnail_sandbox_enabled 1\n"))
            #expect(outcome.status == 0)
            #expect(outcome.problems == "")
        }

        #if SVG
            @Test(.enabled(if: !keepsFreedMemory && !recordsAccesses, "sanitizers map terabytes"))
            func `text in SVG is drawn in confined processes as without them`() async throws {
                // The second text is drawn on a thread of its own, because it is long.
                let texts = ["Aa \u{E01}", String(repeating: "word ", count: 2_000)]
                let origin = try LoopbackOrigin { request in
                    let text = texts[request.path == "/0.svg" ? 0 : 1]
                    let content = "<text y='40' font-size='30' font-weight='bold'>\(text)</text>"
                    let root = "<svg xmlns='http://www.w3.org/2000/svg' width='64' height='64'>"
                    return .ok(Data("\(root)\(content)</svg>".utf8), type: "image/svg+xml")
                }
                defer { origin.stop() }
                var results: [[Data]] = []

                for mode in ["--sandbox", "--no-sandbox"] {
                    let running = try program.start([
                        "--listen", "127.0.0.1:0", "--no-cache", "--allow-private", mode, "--jobs", "1",
                    ])
                    try await running.waitUntil("the server listens") { try running.outputSoFar.hasSuffix("\n") }
                    let address = try running.outputSoFar.split(separator: ":")
                    let port = try #require(address.last.flatMap { Int($0.dropLast()) })
                    let client = CURLTransport()
                    var bodies: [Data] = []
                    for index in texts.indices {
                        let url = QueryItems.encoded(origin.url(for: "/\(index).svg").absoluteString)
                        let response = try await TestServer.get("/thumbnail?url=\(url)&w=64", from: port, by: client)
                        #expect(response.status == 200)
                        bodies.append(response.body)
                    }
                    results.append(bodies)
                    running.process.send(SIGTERM)
                    let outcome = try await running.outcome()
                    #expect(outcome.status == 0)
                }

                // Both select the same fonts, unless the user has installed further ones.
                #expect(results[0] == results[1])
            }

            private static let fontCount = {
                let paths = (try? FileManager.default.subpathsOfDirectory(atPath: "/usr/share/fonts")) ?? []
                return paths.count { ["ttf", "otf", "ttc", "pfb", "t1"].contains($0.split(separator: ".").last ?? "") }
            }()

            @Test(
                .enabled(if: !keepsFreedMemory && !recordsAccesses, "sanitizers map terabytes"),
                .enabled(if: fontCount > 26, "the system has few fonts"))
            func `a server whose sandbox cannot open the fonts reports it`() async throws {
                let path = try ChildProcess.path(of: "thumbnail-server")
                // The server needs 95 files with three workers, which reserves 64 for purposes other than fonts.
                let running = try Program(name: "/bin/sh").start([
                    "-c", "ulimit -n 95 && exec \"$0\" --listen 127.0.0.1:0 --no-cache --sandbox --jobs 1", path,
                ])
                try await running.waitUntil("the server listens") { try running.outputSoFar.hasSuffix("\n") }
                running.process.send(SIGTERM)
                let outcome = try await running.outcome()

                #expect(outcome.status == 0)
                #expect(outcome.problems.contains("thumbnail-server: SVG with text may not be decoded: "))
            }
        #endif
    #else
        @Test func `a program without the trait reports that the sandbox is off`() async throws {
            let reason = "the program was built without the package trait Sandbox"
            let running = try program.start(["--listen", "127.0.0.1:0", "--no-cache"])
            try await running.waitUntil("the server listens") { try running.outputSoFar.hasSuffix("\n") }
            running.process.send(SIGTERM)
            let outcome = try await running.outcome()
            #expect(outcome.status == 0)
            #expect(outcome.problems.hasPrefix("thumbnail-server: the sandbox is off: \(reason)"))

            let required = try await program.run(["--listen", "127.0.0.1:0", "--no-cache", "--sandbox"])
            #expect(required.status == 1)
            #expect(required.problems.hasPrefix("thumbnail-server: the sandbox cannot start: \(reason)"))
        }
    #endif
}
