import AlcedoCore
import AlcedoMemoryCache
import FoundationEssentials
import TestSupport
import Testing

/// The source on the machine that runs the tests, whatever that offers.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct RealMemoryPressureTests {
    /// What one leak a round would exceed by far, and other tests of this process do not.
    private static let slack = 50

    private func entries(of folder: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    }

    private var descriptorCount: Int { entries(of: "/proc/self/fd").count }

    private var threadCount: Int { entries(of: "/proc/self/task").count }

    /// How many pressure files are open, those of standard pipelines in this process too.
    private var triggerCount: Int {
        entries(of: "/proc/self/fd").count { entry in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + entry)
            return target?.hasSuffix("/memory.pressure") == true || target == "/proc/pressure/memory"
        }
    }

    @Test func `a hundred sources leave no descriptor and no thread`() async throws {
        let (descriptors, threads) = (descriptorCount, threadCount)
        for round in 0..<100 {
            let source = SystemMemoryPressureSource(configuration: .init(interval: .milliseconds(1)))
            let observation = Observation(source.observe { _ in }, source.observe { _ in })
            // Some stop before their thread has begun, some while it works.
            if round % 3 == 0 { await Task.yield() }
            if round % 10 == 0 { try await Task.sleep(for: .milliseconds(2)) }
            observation.end()
        }
        try await eventually { descriptorCount < descriptors + Self.slack && threadCount < threads + Self.slack }
        try await eventually { triggerCount < Self.slack }
    }

    @Test func `a source that nobody observes opens nothing`() {
        let sources = (0..<100).map { _ in SystemMemoryPressureSource() }
        #expect(triggerCount < Self.slack)
        withExtendedLifetime(sources) {}
    }

    @Test func `pressure is announced where the machine can`() async throws {
        let file = FileManager.default.isWritableFile(atPath: "/proc/pressure/memory")
        let source = SystemMemoryPressureSource()
        let observation = Observation(source.observe { _ in })
        if file { try await eventually { triggerCount >= 2 } }
        observation.end()
    }
}
