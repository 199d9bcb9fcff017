import AlcedoTesting
import TestSupport
import Testing

/// Tests of `alcedo-bench sandbox`, whose workers run the program itself.
@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct SandboxBenchTests {
    @Test func `decoding in the sandbox is measured beside the process, or its absence is explained`() async throws {
        let outcome = try await Program(name: "alcedo-bench").run(["sandbox", "--rounds", "2"])

        #if Sandbox
            #expect(outcome.status == 0)
            #expect(outcome.problems == "")
            #expect(outcome.output.contains("\njpeg "))
            #expect(outcome.output.contains("\npng "))
        #else
            #expect(outcome.status == 1)
            #expect(outcome.problems.contains("--traits Sandbox"))
        #endif
    }
}
