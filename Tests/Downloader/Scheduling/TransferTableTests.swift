import AlcedoCore
import AlcedoTesting
import TestSupport
import Testing

@testable import AlcedoDownloader

@Suite(.timeLimit(.minutes(10)))
struct TransferTableTests {
    private typealias Desk = TransferDesk
    private typealias Table = TransferDesk.Table

    private func table(limit: Int = 1, hostLimit: Int = .max, rate: DownloadRate? = nil) -> Desk {
        Desk(
            Table(
                schedule: DownloadSchedule(limit: limit, hostLimit: hostLimit, order: .firstInFirstOut, rate: rate)))
    }

    /// Work that ends when it is canceled.
    private func work() -> Task<Void, Never> {
        Task { try? await ManualClock().sleep(for: .seconds(1)) }
    }

    @discardableResult
    private func join(
        _ table: Desk, _ key: String, _ priority: LoadPriority = .normal, host: String? = "h"
    ) -> Int {
        table.join(key, priority, host: host)
    }

    /// Returns the work that starts, as its first waiter requested it.
    private func begun(_ table: Desk, at now: Duration = .zero) -> [String] {
        table.begin(at: now).beginnings.map(\.request)
    }

    private func beginning(_ table: Desk) throws -> Table.Beginning {
        try #require(table.begin(at: .zero).beginnings.first)
    }

    @Test func `a transfer without an attached task counts until it finishes`() throws {
        let table = table()
        join(table, "a")
        let id = try #require(table.begin(at: .zero).beginnings.first).id
        table.shutDown()
        #expect(table.removeAll().tasks.isEmpty)
        #expect(!table.hasEnded)
        #expect(table.finish(id).isEmpty)
        #expect(table.hasEnded)
    }

    @Test func `equal requests are one transfer, and its end is reported in order of arrival`() throws {
        let table = table()
        for _ in 0..<3 { join(table, "a") }
        let transfer = try beginning(table)
        #expect(transfer.request == "get a")
        #expect(transfer.isFirst)
        let late = join(table, "a")
        #expect(begun(table).isEmpty)
        #expect(table.waiters(of: transfer.id).count == 4)
        let ended = table.finish(transfer.id)
        #expect(ended.count == 4)
        #expect(ended.first == "waiter 1 of a")
        #expect(ended.last == "waiter \(late) of a")
        #expect(table.isEmpty)
        #expect(table.runningCount == 0)
        // The next one is different.
        join(table, "a")
        #expect(begun(table) == ["get a"])
    }

    @Test func `a few files are read at once and then by priority, regardless of servers`() throws {
        let table = table()
        table.pause(true)
        for number in 1...6 { _ = table.joinFile("\(number)", .normal) }
        let first = table.begin(at: .zero).beginnings
        #expect(first.map(\.request) == ["1", "2", "3", "4"])
        let raised = table.joinFile("7", .low)
        _ = table.joinFile("8", .high)
        #expect(table.setPriority(.veryHigh, of: raised))
        #expect(begun(table).isEmpty)
        for (end, next) in zip(first, ["7", "8", "5", "6"]) {
            _ = table.finish(end.id)
            #expect(begun(table) == [next])
        }
        #expect(table.runningCount == 0)
        #expect(table.waitingCount == 0)
    }

    @Test func `a file without waiters gives its slot to the next`() throws {
        let table = table()
        let ids = (1...6).map { table.joinFile("\($0)", .normal) }
        let first = table.begin(at: .zero).beginnings
        #expect(first.count == 4)
        _ = table.leave(ids[4])
        _ = table.leave(ids[0])
        // Its work keeps its slot until it has ended.
        #expect(begun(table).isEmpty)
        _ = table.finish(first[0].id)
        #expect(begun(table) == ["6"])
    }

    @Test func `a waiter that joins raises the priority, and restores it when it leaves`() throws {
        let table = table()
        join(table, "plug")
        let plug = try beginning(table)
        join(table, "a", .low)
        join(table, "b", .normal)
        join(table, "c", .high)
        let urgent = join(table, "a", .veryHigh)
        let impatient = join(table, "b", .veryHigh)
        _ = table.leave(impatient)
        _ = table.finish(plug.id)

        let first = try beginning(table)
        #expect(first.request == "get a")
        _ = table.leave(urgent)
        _ = table.finish(first.id)
        let second = try beginning(table)
        #expect(second.request == "get c")
        _ = table.finish(second.id)
        #expect(begun(table) == ["get b"])
    }

    @Test func `a waiter's priority can change in both directions and counts while it is the highest`() throws {
        let table = table()
        join(table, "plug")
        let plug = try beginning(table)
        let a = join(table, "a")
        join(table, "a", .low)
        let b = join(table, "b")
        #expect(table.setPriority(.veryLow, of: a))
        #expect(table.setPriority(.veryHigh, of: b))
        #expect(table.setPriority(.low, of: b))
        join(table, "c", .low)
        #expect(table.setPriority(.high, of: a))
        #expect(table.setPriority(.low, of: a))
        #expect(!table.setPriority(.high, of: 99))
        _ = table.finish(plug.id)
        // All are low, so in order of arrival.
        var order: [String] = []
        while let next = table.begin(at: .zero).beginnings.first {
            order.append(next.request)
            _ = table.finish(next.id)
        }
        #expect(order == ["get a", "get b", "get c"])
    }

    @Test func `the last waiter to leave ends the transfer, and an earlier one does not`() async throws {
        let table = table()
        let (one, two) = (join(table, "a"), join(table, "a"))
        let transfer = try beginning(table)
        let task = work()
        #expect(!table.attach(task, to: transfer.id))
        let removed = try #require(table.leave(one))
        #expect(removed.waiter == "waiter 1 of a")
        #expect(removed.abandonedTask == nil)
        #expect(table.leave(one) == nil)
        #expect(table.waiters(of: transfer.id) == ["waiter \(two) of a"])
        let last = try #require(table.leave(two))
        #expect(last.abandonedTask == task)
        last.abandonedTask?.cancel()
        await task.value
        // It continues and keeps its slot until it reports its end.
        #expect(table.isEmpty)
        #expect(table.runningCount == 1)
        #expect(table.removeAll().tasks == [task])
        join(table, "b")
        #expect(begun(table).isEmpty)
        #expect(table.finish(transfer.id).isEmpty)
        #expect(begun(table) == ["get b"])
    }

    @Test func `attaching a task reports that the transfer has no waiters left`() throws {
        let table = table()
        let waiter = join(table, "a")
        let transfer = try beginning(table)
        #expect(table.leave(waiter)?.abandonedTask == nil)
        let task = work()
        #expect(table.attach(task, to: transfer.id))
        task.cancel()
    }

    @Test func `a new request for the same content is another transfer with its own end`() throws {
        let table = table(limit: 2)
        let waiter = join(table, "a")
        let first = try beginning(table)
        _ = table.leave(waiter)
        join(table, "a")
        let second = try beginning(table)
        #expect(second.id != first.id)
        #expect(table.runningCount == 2)
        #expect(table.finish(first.id).isEmpty)
        #expect(table.runningCount == 1)
        // Its key is still taken.
        join(table, "a")
        #expect(begun(table).isEmpty)
        #expect(table.finish(second.id).count == 2)
    }

    // AFNetworking's bug 3469.
    @Test func `a waiter canceled in the queue frees no slot`() throws {
        let table = table()
        join(table, "plug")
        let plug = try beginning(table)
        let waiter = join(table, "a")
        join(table, "b")
        #expect(table.leave(waiter)?.abandonedTask == nil)
        #expect(begun(table).isEmpty)
        #expect(table.runningCount == 1)
        #expect(table.waitingCount == 1)
        _ = table.finish(plug.id)
        #expect(begun(table) == ["get b"])
    }

    @Test func `a transfer that needs no slot starts at once, in a pause too`() {
        let table = table()
        table.pause(true)
        join(table, "a")
        join(table, "file", host: nil)
        #expect(begun(table) == ["get file"])
        #expect(table.runningCount == 0)
        #expect(table.waitingCount == 1)
        table.pause(false)
        #expect(begun(table) == ["get a"])
    }

    @Test func `a transfer that needs no slot and is canceled before it starts does not start`() {
        let table = table()
        let waiter = join(table, "file", host: nil)
        _ = table.leave(waiter)
        #expect(begun(table).isEmpty)
        #expect(table.isEmpty)
    }

    @Test func `a resting transfer has no slot and returns with the current priority of its waiters`() throws {
        let table = table()
        let waiter = join(table, "a", .veryLow)
        let backingOff = try beginning(table)
        join(table, "b")
        join(table, "c")
        table.backOff(backingOff.id)
        let second = try beginning(table)
        #expect(second.request == "get b")
        #expect(table.runningCount == 1)
        #expect(table.waitingCount == 2)
        #expect(table.setPriority(.veryHigh, of: waiter))
        table.requeue(backingOff.id)
        #expect(begun(table).isEmpty)
        _ = table.finish(second.id)
        let again = try beginning(table)
        #expect(again.id == backingOff.id)
        #expect(!again.isFirst)
        _ = table.finish(backingOff.id)
        #expect(begun(table) == ["get c"])
    }

    @Test func `a transfer that leaves or ends while it rests releases no slot twice`() throws {
        for isLeft in [true, false] {
            let table = table()
            let waiter = join(table, "a")
            let backingOff = try beginning(table)
            table.backOff(backingOff.id)
            join(table, "b")
            #expect(begun(table) == ["get b"])
            if isLeft { _ = table.leave(waiter) } else { _ = table.finish(backingOff.id) }
            join(table, "c")
            #expect(begun(table).isEmpty)
            #expect(table.runningCount == 1)
            table.requeue(backingOff.id)
            #expect(begun(table).isEmpty)
            #expect(table.waitingCount == 1)
        }
    }

    @Test func `a second start uses a token of the rate limit`() throws {
        let table = table(limit: 9, rate: DownloadRate(perSecond: 1, burst: 1))
        join(table, "a")
        let transfer = try beginning(table)
        table.backOff(transfer.id)
        table.requeue(transfer.id)
        let (none, delay) = table.begin(at: .zero)
        #expect(none.isEmpty)
        let wait = try #require(delay)
        #expect(table.begin(at: wait).beginnings.map(\.id) == [transfer.id])
    }

    @Test func `when all waiters leave, the table returns the remaining work`() async throws {
        let table = table(limit: 2, rate: DownloadRate(perSecond: 1, burst: 1))
        for key in ["a", "b", "a", "c"] { join(table, key) }
        let transfer = try beginning(table)
        let (running, timer) = (work(), work())
        _ = table.attach(running, to: transfer.id)
        #expect(table.setTimer())
        table.attachTimer(timer)

        let (waiters, tasks) = table.removeAll()

        #expect(waiters == ["waiter 1 of a", "waiter 3 of a", "waiter 2 of b", "waiter 4 of c"])
        #expect(Set(tasks) == [running, timer])
        #expect(table.isEmpty)
        #expect(table.runningCount == 1)
        #expect(table.waitingCount == 0)
        #expect(table.finish(transfer.id).isEmpty)
        #expect(table.runningCount == 0)
        for task in tasks {
            task.cancel()
            await task.value
        }
    }

    @Test func `there is one timer at a time`() {
        let table = table()
        #expect(table.setTimer())
        #expect(!table.setTimer())
        table.clearTimer()
        // Its work ended later and has no waiter.
        table.attachTimer(work())
        #expect(table.removeAll().tasks.isEmpty)
        #expect(table.setTimer())
    }

    @Test func `a table that is shut down reports it`() {
        let table = table()
        #expect(!table.isShutDown)
        table.shutDown()
        #expect(table.isShutDown)
    }

    @Test func `one transfer may have very many waiters`() throws {
        let table = table()
        let ids = (0..<50_000).map { join(table, "a", $0 % 2 == 0 ? .low : .high) }
        let transfer = try beginning(table)
        for id in ids.dropLast() { #expect(table.leave(id)?.abandonedTask == nil) }
        #expect(table.waiters(of: transfer.id).count == 1)
    }

    @Test(arguments: 1...8)
    func `in any sequence of calls, each waiter has one end and the running transfers are those that started`(
        seed: Int
    ) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let table = table(limit: 3, hostLimit: 2)
        var waiting: Set<Int> = []
        var running: [Int] = []
        var backingOff: [Int] = []
        func ended(_ names: [String]) throws {
            for name in names {
                let id = try #require(name.split(separator: " ").dropFirst().first.flatMap { Int($0) })
                #expect(waiting.remove(id) != nil)
            }
        }
        for _ in 0..<3_000 {
            switch Int.random(in: 0..<10, using: &generator) {
            case 0...3:
                let key = String(Int.random(in: 0..<20, using: &generator))
                waiting.insert(join(table, key, LoadPriority.allCases.randomElement(using: &generator) ?? .low))
            case 4, 5:
                guard let id = waiting.sorted().randomElement(using: &generator) else { continue }
                let removed = try #require(table.leave(id))
                try ended([removed.waiter])
            case 6:
                guard let id = running.randomElement(using: &generator) else { continue }
                table.backOff(id)
                running.removeAll { $0 == id }
                backingOff.append(id)
            case 7:
                guard let id = backingOff.randomElement(using: &generator) else { continue }
                table.requeue(id)
                // Work that was abandoned meanwhile does not return, and ends.
                if !table.waiters(of: id).isEmpty { backingOff.removeAll { $0 == id } }
            case 8:
                guard let id = waiting.sorted().randomElement(using: &generator) else { continue }
                #expect(table.setPriority(LoadPriority.allCases.randomElement(using: &generator) ?? .low, of: id))
            default:
                guard let id = (running + backingOff).randomElement(using: &generator) else { continue }
                try ended(table.finish(id))
                running.removeAll { $0 == id }
                backingOff.removeAll { $0 == id }
            }
            for beginning in table.begin(at: .zero).beginnings { running.append(beginning.id) }
            #expect(running.count == table.runningCount)
            #expect(running.count <= 2)
        }
        try ended(table.removeAll().waiters)
        #expect(waiting.isEmpty)
        #expect(table.isEmpty)
        for id in running + backingOff { #expect(table.finish(id).isEmpty) }
        #expect(table.runningCount == 0)
        #expect(table.waitingCount == 0)
    }
}
