import Foundation
import TestSupport
import Testing

@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct DownloadBenchTests {
    private static let nginx = "/usr/sbin/nginx"

    private func run(_ arguments: [String]) async throws -> Program.Outcome {
        try await Program(name: "alcedo-bench").run(["download"] + arguments)
    }

    @Test func `the download benchmark prints a row for each case and the cancellation time`() async throws {
        let outcome = try await run([
            "--origin", "--only", "4 KB x 64", "--rounds", "1", "--turn", "1", "--cancels", "2", "--python",
            "/nowhere/python",
        ])

        #expect(outcome.status == 0, "\(outcome.problems)")
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.prefix(2) == ["server: the built-in origin", "aiohttp: not found"])
        // The origin has no TLS, so one of three cases is left.
        #expect(lines.count == 6)
        let row = try #require(lines.first { $0.hasPrefix("4 KB x 64, plain HTTP/1.1 ") })
        let cells = row.dropFirst("4 KB x 64, plain HTTP/1.1 ".count).split(separator: " ")
        #expect(cells.count == 6)
        #expect(cells.prefix(5).allSatisfy { Double($0) ?? 0 > 0 })
        #expect(cells.last == "-")
        #expect(lines[4].hasPrefix("goal "))
        #expect(lines[5].hasPrefix("cancellation to closed socket: "))
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: nginx), "nginx is not installed"))
    func `the download benchmark uses HTTP2 with nginx`() async throws {
        let outcome = try await run(["--only", "4 KB x 64, HTTP/2", "--rounds", "1", "--turn", "1", "--cancels", "1"])

        #expect(outcome.status == 0, "\(outcome.problems)")
        #expect(outcome.output.hasPrefix("server: nginx\n"))
        #expect(outcome.output.contains("\n4 KB x 64, HTTP/2 over TLS "))
    }

    @Test func `many requests leave no descriptor open`() async throws {
        let outcome = try await run(["--origin", "--only", "4 KB x 64, plain", "--requests", "1500"])

        #expect(outcome.status == 0, "\(outcome.problems)")
        #expect(outcome.output.contains("4 KB x 64, plain HTTP/1.1: 1500 requests\n"))
        let counts = try #require(outcome.output.firstMatch(of: /descriptors before: (\d+), .*after: (\d+)/))
        #expect(counts.1 == counts.2)
    }

    @Test(arguments: [
        ["--rounds", "0"], ["--only", "5 KB"], ["--requests", "none"], ["--python"], ["extra"], ["--nonsense"],
    ])
    func `the download benchmark rejects unknown options with a usage error`(arguments: [String]) async throws {
        let outcome = try await run(arguments)
        #expect(outcome.status == 2)
        #expect(outcome.output == "")
    }
}
