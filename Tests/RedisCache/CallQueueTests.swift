import Testing

@testable import AlcedoRedisCache

struct CallQueueTests {
    /// Two threads, and a maximum wait of ten seconds.
    private final class Desk {
        private var queue = CallQueue(threads: 2, maximumWait: .seconds(10))
        func enter() -> CallQueue.Admission { queue.enter() }
        func enterUnconditionally() { queue.enterUnconditionally() }
        func leave(after seconds: Int?) { queue.leave(after: seconds.map { .seconds($0) }) }
        /// Makes calls one after another, so that the queue learns how long one takes.
        func learn(_ seconds: Int, times: Int = 100) {
            for _ in 0..<times {
                _ = queue.enter()
                leave(after: seconds)
            }
        }
    }

    private let queue = Desk()

    @Test func `any number of calls wait while the server is fast`() {
        queue.learn(0)
        #expect(queue.enter() == .immediate)
        #expect(queue.enter() == .immediate)
        for _ in 0..<1_000 { #expect(queue.enter() == .queued) }
        queue.leave(after: 0)
        #expect(queue.enter() == .queued)
    }

    @Test func `a call that would wait too long behind slow ones is refused until one leaves`() {
        queue.learn(5)
        #expect([queue.enter(), queue.enter()] == [.immediate, .immediate])
        // The average time is slightly below five seconds, because it began at zero. Each waits for half of it.
        for _ in 0..<4 { #expect(queue.enter() == .queued) }
        #expect(queue.enter() == .rejected)
        #expect(queue.enter() == .rejected)
        queue.leave(after: nil)
        #expect(queue.enter() == .queued)
        #expect(queue.enter() == .rejected)
    }

    @Test func `a free thread is always used, and one long call does not block the queue`() {
        queue.learn(1_000)
        #expect([queue.enter(), queue.enter()] == [.immediate, .immediate])
        #expect([queue.enter(), queue.enter()] == [.queued, .queued])
        #expect(queue.enter() == .rejected)
        for _ in 0..<4 { queue.leave(after: nil) }
        // Then the server is fast again.
        queue.learn(0)
        #expect([queue.enter(), queue.enter()] == [.immediate, .immediate])
        for _ in 0..<100 { #expect(queue.enter() == .queued) }
    }

    @Test func `a minority of late replies does not change when a reply is late`() {
        var queue = CallQueue(threads: 2, maximumWait: .seconds(10))
        func call(_ time: Duration) {
            _ = queue.enter()
            queue.leave(after: time)
        }
        #expect(queue.patience == .milliseconds(50))
        for number in 0..<1_000 { call(number % 5 == 0 ? .seconds(10) : .milliseconds(1)) }
        #expect(queue.patience == .milliseconds(50))
        for _ in 0..<200 { call(.milliseconds(100)) }
        #expect((.milliseconds(700)...(.milliseconds(900))).contains(queue.patience))
        for _ in 0..<200 { call(.seconds(9)) }
        #expect(queue.patience == .seconds(10))
    }

    @Test func `waiting calls are counted`() {
        queue.learn(10)
        for _ in 0..<5 { queue.enterUnconditionally() }
        #expect(queue.enter() == .rejected)
        for _ in 0..<4 { queue.leave(after: nil) }
        #expect(queue.enter() == .immediate)
    }

    @Test func `zero threads count as one`() {
        var queue = CallQueue(threads: 0, maximumWait: .zero)
        let admissions = [queue.enter(), queue.enter()]
        #expect(admissions == [.immediate, .queued])
    }
}
