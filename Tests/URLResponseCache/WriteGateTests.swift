import AlcedoCore
import FoundationEssentials
import Testing

@testable import AlcedoURLResponseCache

@Suite(.timeLimit(.minutes(3)))
struct WriteGateTests {
    /// How many tasks are inside, were at most, and have been.
    private final class Crowd: Sendable {
        let count = Locked((now: 0, most: 0, total: 0))
    }

    private let gate = WriteGate()

    @Test func `one task at a time is in the gate of a URL, and all come through`() async {
        let crowd = Crowd()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    await gate.alone(with: Bench.url) {
                        crowd.count.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1), $0.total + 1) }
                        for _ in 0..<10 { await Task.yield() }
                        crowd.count.withLock { $0.now -= 1 }
                    }
                }
            }
        }

        #expect(crowd.count.withLock { $0.most } == 1)
        #expect(crowd.count.withLock { $0.total } == 50)
    }

    @Test func `another URL has a gate of its own`() async {
        var isThrough = false

        await gate.alone(with: Bench.url) {
            await gate.alone(with: Bench.url.appending(path: "b")) { isThrough = true }
        }

        #expect(isThrough)
    }
}
