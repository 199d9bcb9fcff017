import Alcedo
import AlcedoTesting
import Foundation
import TestSupport
import Testing

@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct QuickstartTests {
    /// Returns the layer of the image in each pass.
    private func layers(_ name: String, in outcome: Program.Outcome) -> [String] {
        outcome.output.split(separator: "\n").filter { $0.hasSuffix("  \(name)") }
            .compactMap { $0.split(separator: " ").first.map(String.init) }
    }

    @Test func `the quickstart loads its samples without a network, and from disk the next time`() async throws {
        let directory = try TemporaryDirectory()
        let quickstart = Program(name: "quickstart", environment: ["XDG_CACHE_HOME": directory.url.path])

        let first = try await quickstart.run([])
        let second = try await quickstart.run([])

        #expect(first.status == 0)
        #expect(first.problems == "")
        #expect(second.status == 0)
        #expect(second.problems == "")
        let names = try FileManager.default.contentsOfDirectory(atPath: SampleImages.directory.path)
        #expect(names.count >= 10)
        for name in names {
            #expect(layers(name, in: first) == ["network", "memory"])
            #expect(layers(name, in: second) == ["disk", "memory"])
        }
    }

    @Test func `the quickstart loads the given URLs`() async throws {
        let directory = try TemporaryDirectory()
        let origin = try LoopbackOrigin(directory: SampleImages.directory)
        defer { origin.stop() }
        let quickstart = Program(name: "quickstart", environment: ["XDG_CACHE_HOME": directory.url.path])

        let found = try await quickstart.run([origin.url(for: "/tiles.png").absoluteString])
        let missing = try await quickstart.run([origin.url(for: "/missing.png").absoluteString])

        #expect(found.status == 0)
        #expect(layers("tiles.png", in: found) == ["network", "memory"])
        #expect(missing.status == 1)
        #expect(missing.problems.hasPrefix("quickstart: "))
    }

    @Test func `an unknown option is explained`() async throws {
        let outcome = try await Program(name: "quickstart").run(["--nonsense"])

        #expect(outcome.status == 2)
        #expect(outcome.problems.hasPrefix("quickstart: unknown option '--nonsense'"))
    }

    @Test func `the quickstart has at most thirty lines`() throws {
        let file = SampleImages.directory.deletingLastPathComponent().appending(path: "Quickstart.swift")
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text.count { $0 == "\n" } <= 30)
    }
}
