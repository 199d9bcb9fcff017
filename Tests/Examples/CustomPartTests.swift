import TestSupport
import Testing

/// The examples with custom parts.
@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct CustomPartTests {
    @Test func `a custom codec encodes and decodes an image`() async throws {
        let outcome = try await Program(name: "custom-codec").run([])

        #expect(outcome.status == 0)
        #expect(outcome.problems == "")
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.first?.hasSuffix(", farbfeld") == true)
        #expect(lines.contains("farbfeld: 8208 bytes, 32 x 32, equal pixels"))
        #expect(lines.contains { $0.hasPrefix("farbfeld to png to farbfeld: ") && $0.hasSuffix(" bytes, 16 x 16") })
        #expect(lines.last == "a truncated file: truncated, the pixels are truncated")
    }

    @Test func `custom caches pass the conformance kits and work in a pipeline`() async throws {
        let outcome = try await Program(name: "custom-backend").run([])

        #expect(outcome.status == 0)
        #expect(outcome.problems == "")
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.count { $0.hasSuffix(" checks passed") } == 2)
        #expect(lines.suffix(3) == ["first load: network", "again: memory", "without the memory cache: disk"])
    }
}
