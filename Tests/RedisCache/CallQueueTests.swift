import Testing

@testable import AlcedoRedisCache

struct CallQueueTests {
    /// Two threads, and ten seconds of patience.
    private final class Desk {
        private var queue = CallQueue(threads: 2, patience: .seconds(10))
        func enter() -> CallQueue.Place { queue.enter() }
        func enterAnyway() { queue.enterAnyway() }
        func leave(after seconds: Int?) { queue.leave(after: seconds.map { .seconds($0) }) }
        /// Calls one after another, so that all know how long one takes.
        func learn(_ seconds: Int, times: Int = 100) {
            for _ in 0..<times {
                _ = queue.enter()
                leave(after: seconds)
            }
        }
    }

    private let queue = Desk()

    @Test func `while the server is fast, any number wait`() {
        queue.learn(0)
        #expect(queue.enter() == .free)
        #expect(queue.enter() == .free)
        for _ in 0..<1_000 { #expect(queue.enter() == .line) }
        queue.leave(after: 0)
        #expect(queue.enter() == .line)
    }

    @Test func `who would wait for too long behind slow calls is sent away, until one leaves`() {
        queue.learn(5)
        #expect([queue.enter(), queue.enter()] == [.free, .free])
        // The usual time is a little less than five seconds, as it began with none; each waits for half of it.
        for _ in 0..<4 { #expect(queue.enter() == .line) }
        #expect(queue.enter() == .refused)
        #expect(queue.enter() == .refused)
        queue.leave(after: nil)
        #expect(queue.enter() == .line)
        #expect(queue.enter() == .refused)
    }

    @Test func `a thread that is free is always taken, and one very long call does not shut the line`() {
        queue.learn(1_000)
        #expect([queue.enter(), queue.enter()] == [.free, .free])
        #expect([queue.enter(), queue.enter()] == [.line, .line])
        #expect(queue.enter() == .refused)
        for _ in 0..<4 { queue.leave(after: nil) }
        // Then it is fast again.
        queue.learn(0)
        #expect([queue.enter(), queue.enter()] == [.free, .free])
        for _ in 0..<100 { #expect(queue.enter() == .line) }
    }

    @Test func `those that wait anyway are counted`() {
        queue.learn(10)
        for _ in 0..<5 { queue.enterAnyway() }
        #expect(queue.enter() == .refused)
        for _ in 0..<4 { queue.leave(after: nil) }
        #expect(queue.enter() == .free)
    }

    @Test func `without threads it counts as one`() {
        var queue = CallQueue(threads: 0, patience: .zero)
        let places = [queue.enter(), queue.enter()]
        #expect(places == [.free, .line])
    }
}
