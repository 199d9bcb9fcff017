import AlcedoCore
import AlcedoLibc
import AlcedoTesting
import TestSupport
import Testing

@testable import AlcedoMemoryCache

/// Triggers in the observing thread. A socket with urgent data is ready with POLLPRI, like a pressure file.
@Suite(.timeLimit(.minutes(10)))
struct MemoryPressureTriggerTests {
    /// Two connected sockets. The source closes the first, the test the second.
    private struct Pair {
        var watched: Int32
        var other: Int32

        init() throws {
            var ends: [Int32] = [-1, -1]
            let kind = SocketType.stream | SocketType.closeOnExec
            try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
            (watched, other) = (ends[0], ends[1])
        }

        /// Returns false if the kernel does not support urgent data on these sockets (before 5.15).
        func fire() -> Bool {
            var byte: UInt8 = 1
            return send(other, &byte, 1, Int32(MSG_OOB)) == 1
        }
    }

    @Test(arguments: [MemoryPressure.warning, .critical])
    func `a trigger that fires raises the level until it is silent for the hold duration`(level: MemoryPressure)
        async throws
    {
        let pair = try Pair()
        defer { close(pair.other) }
        let system = WatchedSystem(triggers: [
            {
                level == .warning
                    ? StallTriggers(warning: pair.watched) : StallTriggers(critical: pair.watched)
            }
        ])
        let observation = system.observe()
        try await system.eventuallyReads()
        try await system.pass(seconds: 3)
        #expect(system.seen.value.isEmpty)

        guard pair.fire() else { return }
        try await system.seen.waitUntil { $0 == [level] }

        // Clears the event by reading the urgent byte.
        var byte: UInt8 = 0
        #expect(recv(pair.watched, &byte, 1, Int32(MSG_OOB)) == 1)
        try await system.pass(seconds: 15)
        try await system.seen.waitUntil { $0 == [level, .normal] }
        observation.end()
    }

    @Test func `a trigger that fires is compared with the stall counter, at once and after the counter is updated`()
        async throws
    {
        let pair = try Pair()
        defer { close(pair.other) }
        let count = Watched(StallCount(some: 7_000_000, full: 0))
        let system = WatchedSystem(triggers: [{ StallTriggers(warning: pair.watched) { count.value } }])
        let observation = system.observe()
        try await system.eventuallyReads()
        guard pair.fire() else { return }
        // The thread reads it within the first second or the second.
        try await system.pass(seconds: 2)
        var byte: UInt8 = 0
        #expect(recv(pair.watched, &byte, 1, Int32(MSG_OOB)) == 1)
        try await system.pass(seconds: 5)
        #expect(system.seen.value.isEmpty)

        #expect(pair.fire())
        try await system.pass(seconds: 2)
        #expect(recv(pair.watched, &byte, 1, Int32(MSG_OOB)) == 1)
        #expect(system.seen.value.isEmpty)
        // The counter was behind, and no trigger fires again.
        count.update { $0 = StallCount(some: 7_100_000, full: 0) }
        try await system.pass(seconds: 3)
        try await system.seen.waitUntil { $0 == [.warning] }
        observation.end()
    }

    @Test func `available memory is not read while stalls are reported by triggers`() async throws {
        let pair = try Pair()
        defer { close(pair.other) }
        let system = WatchedSystem(triggers: [{ StallTriggers() }, { StallTriggers(warning: pair.watched) }])
        let observation = system.observe()
        try await system.eventuallyReads()
        try await system.pass(seconds: 3)

        #expect(system.figures.value.includesAvailable.allSatisfy { !$0 })
        observation.end()
    }

    @Test func `a failed trigger is replaced by the next, and the last by readings`() async throws {
        let (first, second) = (try Pair(), try Pair())
        let made = Watched(0)
        let system = WatchedSystem(
            triggers: [first, second].map { pair in
                {
                    made.update { $0 += 1 }
                    return StallTriggers(critical: pair.watched)
                }
            })
        let observation = system.observe()
        try await system.eventuallyReads()
        #expect(made.value == 1)

        // Shutting down both ends yields POLLHUP.
        close(first.other)
        try await made.waitUntil { $0 == 2 }
        #expect(system.figures.value.includesAvailable.allSatisfy { !$0 })

        close(second.other)
        try await system.figures.waitUntil { $0.includesAvailable.last == true }
        #expect(made.value == 2)
        #expect(system.seen.value.isEmpty)
        observation.end()
    }

    @Test(arguments: ["silent", "error", "hang-up", "invalid", "urgent"])
    func `a trigger does not cause busy waiting`(kind: String) async throws {
        let pair = try Pair()
        var (watched, other) = (pair.watched, pair.other)
        switch kind {
        case "error":
            // The writing end of a pipe without a reader yields POLLERR.
            var ends: [Int32] = [-1, -1]
            try #require(pipe(&ends) == 0)
            close(ends[0])
            watched = ends[1]
        case "invalid": watched = 1 << 20
        case "urgent": _ = pair.fire()
        default: break
        }
        if watched != pair.watched { close(pair.watched) }
        if kind == "hang-up" {
            close(other)
            other = -1
        }
        defer { if other >= 0 { close(other) } }
        let looks = CountingTimeSource()
        let system = WatchedSystem(
            interval: .milliseconds(20), clock: looks, triggers: [{ [watched] in StallTriggers(warning: watched) }])
        let observation = system.observe()

        try await system.figures.waitUntil { $0.readCount >= 10 }

        // About four clock readings per iteration, and an iteration or two per memory reading.
        let (lookCount, readCount) = (looks.count, system.figures.value.readCount)
        #expect(lookCount < 12 * (readCount + 2))
        observation.end()
        try await system.figures.waitUntil { $0.threadCount == 0 }
    }
}
