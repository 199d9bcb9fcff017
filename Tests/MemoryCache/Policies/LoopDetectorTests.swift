import TestSupport
import Testing

@testable import AlcedoMemoryCache

@Suite struct LoopDetectorTests {
    private let count = 64

    /// Returns whether a loop is recognized after entries last used at `ticks` return.
    private func isLoop(_ ticks: some Sequence<Int>) -> Bool { isLoop(amongNew: ticks.map { $0 }) }

    /// - Parameter ticks: nil for an entry that is not remembered.
    private func isLoop(amongNew ticks: [Int?]) -> Bool {
        var detector = LoopDetector()
        for tick in ticks { _ = detector.contains(tick.map { .ghost(1, tick: $0) }, count: count) }
        return detector.isActive
    }

    @Test func `24 returns in the order of the last uses count as a loop, and 23 do not`() {
        #expect(isLoop(1...24))
        #expect(!isLoop(1...23))
        #expect(isLoop(stride(from: 3, to: 300, by: 3)))
    }

    @Test func `returns in reverse order, in random order or far apart do not count as a loop`() {
        var random = SeededGenerator(seed: 3)
        #expect(!isLoop((1...500).reversed()))
        #expect(!isLoop((0..<500).map { _ in Int.random(in: 0..<192, using: &random) }))
        #expect(!isLoop(stride(from: 10, to: 10_000, by: 10)))
    }

    @Test func `a loop ends with a quarter of new entries or ten in a row, and not with a twentieth`() {
        #expect(!isLoop(amongNew: (1...500).map { $0 % 4 == 0 ? nil : $0 }))
        #expect(isLoop(amongNew: (1...500).map { $0 % 20 == 0 ? nil : $0 }))
        #expect(!isLoop(amongNew: (1...510).map { $0 > 500 ? nil : $0 }))
    }

    @Test func `uses with equal ticks do not count as a loop`() {
        #expect(!isLoop([Int](repeating: 7, count: 500)))
        #expect(isLoop((1...48).map { $0 / 2 + 1 } + [25]))
    }

    @Test func `ticks stay in order when they wrap around`() {
        let wrap = 1 << 24
        #expect(isLoop(wrap - 12...wrap + 12))
    }
}

extension GhostList.Ghost {
    /// - Parameter tick: The number of stores before its last use.
    static func ghost(_ hash: UInt64, frequency: UInt8 = 1, tick: Int = 0) -> Self {
        Self(
            hash: hash, evictedCost: 0, lastUse: UInt32(truncatingIfNeeded: tick << 8), frequency: frequency, part: 0)
    }
}
