import AlcedoCore
import AlcedoRuntime
import Testing

@testable import AlcedoURLResponseCache

@Suite(.timeLimit(.minutes(10)))
struct WriteGateTests {
    /// How many tasks are inside, were at most, and have been.
    private final class Crowd: Sendable {
        let count = Locked((now: 0, most: 0, total: 0))
    }

    private let gate = WriteGate()

    @Test func `one task at a time is in the gate of a resource, and all come through`() async {
        let crowd = Crowd()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    await gate.alone(with: ResourceKey("a")) {
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

    @Test func `another resource has a gate of its own`() async {
        var isThrough = false

        await gate.alone(with: ResourceKey("a")) {
            await gate.alone(with: ResourceKey("b")) { isThrough = true }
        }

        #expect(isThrough)
    }
}
