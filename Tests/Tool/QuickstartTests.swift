import Alcedo
import Foundation
import TestSupport
import Testing

@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct QuickstartTests {
    @Test func `it loads its samples without a network, and has them on disk the next time`() async throws {
        let folder = try TemporaryDirectory()
        let quickstart = Program(name: "quickstart", environment: ["XDG_CACHE_HOME": folder.url.path])

        let first = try await quickstart.run(["--output", folder.url.path])
        let second = try await quickstart.run(["--output", folder.url.path])

        #expect(first.status == 0 && first.problems == "")
        let names = try FileManager.default.contentsOfDirectory(atPath: Samples.folder.path)
        #expect(names.count >= 10)
        for name in names {
            #expect(first.rows(name).map { $0[0] } == ["network", "memory"])
            #expect(second.rows(name).map { $0[0] } == ["disk", "memory"])
        }
        let sheet = try Data(contentsOf: folder.url.appending(path: "contact-sheet.png"))
        #expect(try PNGDecoder().decode(sheet, options: DecodingOptions()).size == PixelSize(width: 700, height: 700))
    }

    @Test func `an unknown option is explained`() async throws {
        let outcome = try await Program(name: "quickstart").run(["--nonsense"])

        #expect(outcome.status == 2)
        #expect(outcome.problems.hasPrefix("quickstart: there is no option '--nonsense'"))
    }
}
