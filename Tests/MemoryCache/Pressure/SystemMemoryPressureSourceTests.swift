import AlcedoCore
import AlcedoTesting
import TestSupport
import Testing

@testable import AlcedoMemoryCache

@Suite(.timeLimit(.minutes(10)))
struct SystemMemoryPressureSourceTests {
    @Test func `observers are called only for changes, including the one back to normal`() async throws {
        let system = WatchedSystem()
        let observation = system.observe()
        try await system.eventuallyReads()

        system.setUse(.warning)
        try await system.pass(seconds: 5)
        system.setUse(.critical)
        try await system.pass(seconds: 5)
        system.setUse(.normal)
        try await system.pass(seconds: 30)

        try await system.seen.waitUntil { $0.count >= 3 }
        #expect(system.seen.value == [.warning, .critical, .normal])
        observation.end()
    }

    @Test func `a level lasts for its hold duration`() async throws {
        let system = WatchedSystem()
        system.setUse(.warning)
        let observation = system.observe()
        try await system.seen.waitUntil { $0 == [.warning] }

        system.setUse(.normal)
        try await system.pass(seconds: 9)
        #expect(system.seen.value == [.warning])
        try await system.pass(seconds: 2)
        try await system.seen.waitUntil { $0 == [.warning, .normal] }
        observation.end()
    }

    @Test func `rising counters raise the level`() async throws {
        let system = WatchedSystem()
        system.figures.update { $0.readings.events = MemoryEvents(high: 7, max: 7, oom: 7) }
        let observation = system.observe()
        try await system.eventuallyReads()
        try await system.pass(seconds: 3)
        #expect(system.seen.value.isEmpty)

        system.figures.update { $0.readings.events = MemoryEvents(high: 8, max: 7, oom: 7) }
        try await system.pass(seconds: 1)

        try await system.seen.waitUntil { $0 == [.warning] }
        observation.end()
    }

    @Test func `without observers no task runs, and a new observer starts from normal`() async throws {
        let system = WatchedSystem()
        #expect(system.figures.value.tasksMade == 0)

        for round in 1...3 {
            system.setUse(.normal)
            let (first, second) = (system.observe(), system.observe())
            system.setUse(.critical)
            try await system.pass(seconds: 2)
            // Both observers are called.
            try await system.seen.waitUntil { $0.count == round * 2 }
            #expect(system.figures.value.taskCount == 1)
            first.end()
            try await system.pass(seconds: 1)
            #expect(system.figures.value.taskCount == 1)
            second.end()
            try await system.figures.waitUntil { $0.taskCount == 0 }
            #expect(system.figures.value.tasksMade == round)
        }
        #expect(system.seen.value.allSatisfy { $0 == .critical })
    }

    @Test func `an observer is not called after it releases its token`() async throws {
        let system = WatchedSystem()
        let observation = system.observe()
        let others = Watched(0)
        let other = system.observe { _ in others.update { $0 += 1 } }
        try await system.eventuallyReads()

        other.end()
        system.setUse(.warning)
        try await system.pass(seconds: 2)

        try await system.seen.waitUntil { $0 == [.warning] }
        #expect(others.value == 0)
        observation.end()
    }

    @Test func `an observation works after its source is released`() async throws {
        var system: WatchedSystem? = WatchedSystem()
        let (figures, seen) = try #require(system.map { ($0.figures, $0.seen) })
        let observation = system?.observe()
        system?.setUse(.warning)
        system = nil

        try await seen.waitUntil { $0 == [.warning] }
        observation?.end()
        try await figures.waitUntil { $0.taskCount == 0 }
    }

    @Test func `a handler may end its own and other observations and begin new ones`() async throws {
        let system = WatchedSystem()
        let all = Observation()
        let late = Watched<[MemoryPressure]>([])
        let calls = Watched(0)
        let begin: @Sendable () -> any Sendable = { [source = system.source] in
            source.observe { level in late.update { $0.append(level) } }
        }
        all.hold(
            system.observe { _ in
                calls.update { $0 += 1 }
                let new = begin()
                all.end()
                all.hold(new)
            })
        all.hold(system.observe())
        try await system.eventuallyReads()

        system.setUse(.warning)
        try await system.pass(seconds: 2)
        try await calls.waitUntil { $0 == 1 }
        system.setUse(.critical)
        try await system.pass(seconds: 2)

        try await late.waitUntil { $0 == [.critical] }
        #expect(calls.value == 1)
        #expect(system.seen.value.isEmpty)
        #expect(system.figures.value.tasksMade == 1)
        all.end()
        try await system.figures.waitUntil { $0.taskCount == 0 }
    }

    @Test func `a handler that releases an observation while it is released finds no lock`() async throws {
        let system = WatchedSystem()
        let outer = Observation()
        do {
            // Only the handler of the first observation holds the second.
            let inner = system.observe()
            outer.hold(system.observe { _ in withExtendedLifetime(inner) {} })
        }
        try await system.eventuallyReads()

        outer.end()

        try await system.figures.waitUntil { $0.taskCount == 0 }
    }

    @Test func `observers added and removed on many threads leave no task behind`() async throws {
        let system = WatchedSystem()
        system.setUse(.warning)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for round in 0..<50 {
                        let observation = system.observe()
                        // Some stop before their task has begun, some while it watches.
                        if round.isMultiple(of: 2) { try await system.figures.waitUntil { $0.taskCount > 0 } }
                        observation.end()
                    }
                }
            }
            try await group.waitForAll()
        }
        try await system.figures.waitUntil { $0.taskCount == 0 }
        #expect(system.seen.value.allSatisfy { $0 == .warning })

        let count = system.seen.value.count
        let observation = system.observe()
        try await system.seen.waitUntil { $0.count > count }
        observation.end()
    }

    @Test func `the system's files are mapped to levels`() async throws {
        let system = try FakeSystem(FakeSystem.unified)
        try system.write("1000\n", to: FakeSystem.group + "/memory.max")
        try system.write("900\n", to: FakeSystem.group + "/memory.current")
        let seen = Watched<[MemoryPressure]>([])
        let source = SystemMemoryPressureSource(
            root: system.root, interval: .milliseconds(5), holdDuration: .milliseconds(50))
        let observation = Observation(source.observe { level in seen.update { $0.append(level) } })

        try await seen.waitUntil { $0 == [.warning] }
        try system.write("990\n", to: FakeSystem.group + "/memory.current")
        try await seen.waitUntil { $0 == [.warning, .critical] }
        try system.write("10\n", to: FakeSystem.group + "/memory.current")
        try await seen.waitUntil { $0.last == .normal }
        observation.end()
    }

    @Test func `available memory counts where no other figure exists`() async throws {
        let system = try FakeSystem(["/proc/meminfo": "MemTotal: 1000 kB\nMemAvailable: 40 kB\n"])
        let seen = Watched<[MemoryPressure]>([])
        let source = SystemMemoryPressureSource(root: system.root)
        let observation = Observation(source.observe { level in seen.update { $0.append(level) } })

        try await seen.waitUntil { $0 == [.critical] }
        observation.end()
    }
}
