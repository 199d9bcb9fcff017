import AlcedoMemoryCache
import FoundationEssentials
import TestSupport
import Testing

/// The source on the machine that runs the tests, in its own process, because other tests open files too.
@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct RealMemoryPressureTests {
    private static var descriptorCount: Int {
        ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []).count
    }

    @Test func `a hundred sources leave no descriptor`() async {
        await #expect(processExitsWith: .success) {
            // `Task.sleep` and the pool's threads open descriptors at their first use, which the counts must exclude.
            // The duration does not matter.
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<16 { group.addTask { try? await Task.sleep(for: .milliseconds(5)) } }
            }
            let before = Self.descriptorCount
            for round in 0..<100 {
                let source = SystemMemoryPressureSource(interval: .milliseconds(1))
                let observation = Observation(source.observe { _ in }, source.observe { _ in })
                // Some stop before their task has begun, some while it works. Yields and a sleep are used because a
                // source on the real system signals neither. Any order must pass.
                if round % 3 == 0 { await letOthersRun() }
                if round % 10 == 0 { try await Task.sleep(for: .milliseconds(2)) }
                observation.end()
            }
            // The runtime may open some of its own meanwhile.
            try await eventually { Self.descriptorCount <= before + 2 }
        }
    }
}
