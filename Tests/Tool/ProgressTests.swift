import AlcedoTesting
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ProgressTests {
    @Test func `a terminal shows files, bytes and rate while they come, and is left clean`() async throws {
        let folder = try TemporaryDirectory()
        let content = try ChangingContent(seed: 1, stall: 2 << 20)
        let origin = try LoopbackOrigin { content.reply(to: $0) }
        defer { origin.stop() }
        let terminal = try PseudoTerminal()
        let process = try ChildProcess(
            "alcedo",
            ["load", "--no-cache", "--verbose", "--timeout", "300", origin.url(for: "/big.png").absoluteString],
            folder: folder.path, input: .file("/dev/null"), output: .file("/dev/null"),
            problems: .descriptor(terminal.inside))

        let before = try await terminal.read(until: " of 4095 KiB, ")
        origin.release()
        let after = try await terminal.read(until: "exchanges: 1, ")

        #expect(try await process.wait() == 0)
        #expect(before.contains("░ 0/1 images, ") && before.contains(" KiB/s"))
        // A line of the log takes the place of the progress.
        #expect(after.contains("\r\u{1B}[K\(origin.url.absoluteString)/big.png: 200, "))
    }
}
