import AlcedoCore
import TestSupport
import Testing

@testable import AlcedoDownloader

@Suite
struct DownloadScheduleTests {
    private func begun(_ schedule: inout DownloadSchedule, at now: Duration = .zero) -> [Int] {
        var begun: [Int] = []
        while case .begin(let id) = schedule.next(at: now) { begun.append(id) }
        return begun
    }

    private func schedule(
        limit: Int = 2, hostLimit: Int = .max, order: QueueOrder = .firstInFirstOut, rate: DownloadRate? = nil
    ) -> DownloadSchedule {
        DownloadSchedule(limit: limit, hostLimit: hostLimit, order: order, rate: rate)
    }

    @Test func `no more transfers start than there are slots, the highest priority first`() {
        var schedule = schedule()
        for (id, priority) in [(1, LoadPriority.low), (2, .normal), (3, .high), (4, .normal)] {
            schedule.add(id, host: "a", priority: priority)
        }
        #expect(begun(&schedule) == [3, 2])
        schedule.end(3)
        #expect(begun(&schedule) == [4])
        #expect(schedule.runningCount == 2)
        #expect(schedule.waitingCount == 1)
    }

    @Test func `a last-in-first-out schedule starts the newest request first`() {
        var schedule = schedule(limit: 3, hostLimit: 1, order: .lastInFirstOut)
        for id in 1...3 { schedule.add(id, host: "a", priority: .normal) }
        #expect(begun(&schedule) == [3])
        schedule.add(4, host: "a", priority: .normal)
        #expect(begun(&schedule).isEmpty)
        schedule.end(3)
        #expect(begun(&schedule) == [4])
        schedule.end(4)
        #expect(begun(&schedule) == [2])
    }

    // AFNetworking's bug 3469.
    @Test func `a transfer removed before it starts frees no slot`() {
        var schedule = schedule(limit: 1)
        for id in 1...3 { schedule.add(id, host: "a", priority: .normal) }
        #expect(begun(&schedule) == [1])
        schedule.end(2)
        #expect(begun(&schedule).isEmpty)
        #expect(schedule.runningCount == 1)
        schedule.end(1)
        #expect(begun(&schedule) == [3])
    }

    @Test func `an abandoned transfer keeps its slot until it ends`() {
        var schedule = schedule(limit: 1)
        for id in 1...3 { schedule.add(id, host: "a", priority: .normal) }
        #expect(begun(&schedule) == [1])
        schedule.abandon(1)
        schedule.abandon(2)
        #expect(begun(&schedule).isEmpty)
        #expect(schedule.waitingCount == 1)
        schedule.end(1)
        #expect(begun(&schedule) == [3])
        schedule.backOff(3)
        schedule.abandon(3)
        #expect(schedule.runningCount == 0)
        #expect(schedule.waitingCount == 0)
    }

    @Test func `a host at its limit does not delay other hosts`() {
        var schedule = schedule(limit: 3, hostLimit: 1)
        for id in 1...3 { schedule.add(id, host: "a", priority: .high) }
        schedule.add(4, host: "b", priority: .low)
        #expect(begun(&schedule) == [1, 4])
        // The next of the host is removed, and the one behind starts nevertheless.
        schedule.end(1)
        schedule.end(2)
        #expect(begun(&schedule) == [3])
    }

    @Test func `a transfer raised while its host is full starts first`() {
        var schedule = schedule(limit: 3, hostLimit: 1)
        for id in 1...3 { schedule.add(id, host: "a", priority: .normal) }
        #expect(begun(&schedule) == [1])
        schedule.setPriority(.veryHigh, of: 3)
        schedule.end(1)
        #expect(begun(&schedule) == [3])
    }

    @Test func `nothing starts during a pause`() {
        var schedule = schedule()
        schedule.isPaused = true
        schedule.add(1, host: "a", priority: .normal)
        #expect(begun(&schedule).isEmpty)
        schedule.isPaused = false
        #expect(begun(&schedule) == [1])
    }

    @Test func `a rate limit permits a burst and then one start at a time`() {
        var schedule = schedule(limit: 100, rate: DownloadRate(perSecond: 10, burst: 3))
        for id in 1...6 { schedule.add(id, host: "a", priority: .normal) }
        #expect(begun(&schedule) == [1, 2, 3])
        guard case .wait(let delay) = schedule.next(at: .zero) else {
            Issue.record("there is no wait")
            return
        }
        #expect(delay >= .milliseconds(100))
        #expect(delay < .milliseconds(102))
        // A canceled transfer uses no token.
        schedule.end(4)
        #expect(begun(&schedule, at: delay) == [5])
        #expect(begun(&schedule, at: delay + .milliseconds(50)).isEmpty)
        #expect(begun(&schedule, at: .seconds(60)) == [6])
    }

    @Test func `a resting transfer releases its slots and later waits behind its equals`() {
        var schedule = schedule(limit: 2, hostLimit: 1)
        for id in 1...3 { schedule.add(id, host: "a", priority: .normal) }
        #expect(begun(&schedule) == [1])
        schedule.backOff(1)
        #expect(begun(&schedule) == [2])
        schedule.requeue(1, priority: .normal)
        schedule.end(2)
        #expect(begun(&schedule) == [3])
        schedule.end(3)
        #expect(begun(&schedule) == [1])
        #expect(schedule.runningCount == 1)
        #expect(schedule.waitingCount == 0)
    }

    @Test func `only a running transfer can rest, and only a resting one can return`() {
        var schedule = schedule(limit: 1)
        for id in 1...2 { schedule.add(id, host: "a", priority: .normal) }
        schedule.requeue(1, priority: .high)
        #expect(begun(&schedule) == [1])
        schedule.requeue(1, priority: .high)
        schedule.backOff(2)
        schedule.backOff(3)
        #expect(begun(&schedule).isEmpty)
        schedule.backOff(1)
        schedule.backOff(1)
        #expect(begun(&schedule) == [2])
        schedule.end(1)
        #expect(schedule.runningCount == 1)
        #expect(begun(&schedule).isEmpty)
    }

    @Test(arguments: 1...8)
    func `in any sequence of calls, limits hold and every transfer starts`(seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        let order = seed % 2 == 0 ? QueueOrder.firstInFirstOut : .lastInFirstOut
        var schedule = schedule(limit: 4, hostLimit: 2, order: order)
        var hosts: [Int: String] = [:]
        var running: Set<Int> = []
        func look() {
            for id in begun(&schedule) {
                #expect(hosts[id] != nil)
                #expect(running.insert(id).inserted)
            }
            let counts = Dictionary(grouping: running) { hosts[$0] ?? "" }.mapValues(\.count)
            #expect(running.count <= 4)
            #expect(counts.values.allSatisfy { $0 <= 2 })
            // No transfer waits that could start.
            let waiting = hosts.keys.filter { !running.contains($0) }
            let couldRun = running.count < 4 && waiting.contains { counts[hosts[$0] ?? ""] ?? 0 < 2 }
            #expect(!couldRun)
        }
        for id in 0..<2_000 {
            switch Int.random(in: 0..<5, using: &generator) {
            case 0, 1:
                hosts[id] = String(Int.random(in: 0..<4, using: &generator))
                schedule.add(
                    id, host: hosts[id] ?? "", priority: LoadPriority.allCases.randomElement(using: &generator) ?? .low)
            case 2:
                guard let known = hosts.keys.sorted().randomElement(using: &generator) else { continue }
                let priority = LoadPriority.allCases.randomElement(using: &generator) ?? .low
                schedule.setPriority(priority, of: known)
            default:
                guard let known = hosts.keys.sorted().randomElement(using: &generator) else { continue }
                schedule.end(known)
                hosts[known] = nil
                running.remove(known)
            }
            look()
        }
        while !hosts.isEmpty {
            guard let id = running.first else {
                Issue.record("\(hosts.count) wait for ever")
                return
            }
            schedule.end(id)
            running.remove(id)
            hosts[id] = nil
            look()
        }
    }
}
