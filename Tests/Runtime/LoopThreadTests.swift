import AlcedoCore
import AlcedoLibc
import AlcedoRuntime
import AlcedoTesting
import TestSupport
import Testing

@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct LoopThreadTests {
    @Test func `more loops may run than dispatch queues have threads`() async {
        await #expect(processExitsWith: .success) {
            let begun = Watched(0)
            let executor = BlockingExecutor(name: "lane", maxConcurrent: 1)
            for _ in 0..<300 {
                LoopThread.start {
                    begun.update { $0 += 1 }
                    pause()
                }
            }
            // A loop that blocks for a moment still runs later.
            let value = try? await executor.run { 42 }
            try await begun.waitUntil { $0 == 300 }
            exit(value == 42 ? 0 : 1)
        }
    }
}
