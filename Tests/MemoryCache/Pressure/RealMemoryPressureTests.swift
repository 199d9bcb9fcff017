import AlcedoCore
import AlcedoMemoryCache
import FoundationEssentials
import TestSupport
import Testing

/// The source on the machine that runs the tests. Each test runs in its own process, because other tests open files and
/// start threads too.
@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct RealMemoryPressureTests {
    private static func entries(of directory: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    }

    private static var descriptorCount: Int { entries(of: "/proc/self/fd").count }

    private static var threadCount: Int { entries(of: "/proc/self/task").count }

    private static var triggerCount: Int {
        entries(of: "/proc/self/fd").count { entry in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + entry)
            return target?.hasSuffix("/memory.pressure") == true || target == "/proc/pressure/memory"
        }
    }

    /// Starts the pool's threads and opens the descriptors that `Task.sleep` needs, so that later counts exclude them.
    private static func startRuntime() async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<16 { group.addTask { try? await Task.sleep(for: .milliseconds(5)) } }
        }
    }

    @Test func `auto-purging caches observe the machine by default and share one source`() async {
        await #expect(processExitsWith: .success) {
            await Self.startRuntime()
            let before = Self.descriptorCount
            var caches = (0..<20).map { _ in AutoPurgingImageCache() }
            // Each source opens a descriptor at once, and at most five in all.
            #expect(Self.descriptorCount > before)
            #expect(Self.descriptorCount <= before + 6)
            caches.removeAll()
            // The runtime may open some of its own meanwhile. Twenty sources would leave more.
            try await eventually { Self.descriptorCount <= before + 2 }
        }
    }

    @Test func `a hundred sources leave no descriptor and no thread`() async {
        await #expect(processExitsWith: .success) {
            await Self.startRuntime()
            let (descriptors, threads) = (Self.descriptorCount, Self.threadCount)
            for round in 0..<100 {
                let source = SystemMemoryPressureSource(interval: .milliseconds(1))
                let observation = Observation(source.observe { _ in }, source.observe { _ in })
                // Some stop before their thread has begun, some while it works. Yields and a sleep are used because a
                // source on the real system signals neither. Any order must pass.
                if round % 3 == 0 { await letOthersRun() }
                if round % 10 == 0 { try await Task.sleep(for: .milliseconds(2)) }
                observation.end()
            }
            // Other parts of the runtime may use one more of each meanwhile.
            try await eventually { Self.descriptorCount <= descriptors + 1 && Self.threadCount <= threads + 1 }
            #expect(Self.triggerCount == 0)
        }
    }

    @Test func `a source without observers opens nothing`() async {
        await #expect(processExitsWith: .success) {
            let sources = (0..<100).map { _ in SystemMemoryPressureSource() }
            #expect(Self.triggerCount == 0)
            withExtendedLifetime(sources) {}
        }
    }

    @Test func `pressure is reported where the machine supports it`() async {
        await #expect(processExitsWith: .success) {
            let file = FileManager.default.isWritableFile(atPath: "/proc/pressure/memory")
            let source = SystemMemoryPressureSource()
            let observation = Observation(source.observe { _ in })
            if file { try await eventually { Self.triggerCount >= 2 } }
            observation.end()
            try await eventually { Self.triggerCount == 0 }
        }
    }
}
