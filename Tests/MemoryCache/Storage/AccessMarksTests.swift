import AlcedoLibc
import Synchronization
import TestSupport
import Testing

@testable import AlcedoMemoryCache

/// The accesses that hits record for the policy.
@Suite(.timeLimit(.minutes(10)))
struct AccessMarksTests {
    @Test func `uses are counted up to fifteen, and the last use never decreases`() {
        let marks = AccessMarks()
        marks.reset(3, stamp: 7)
        for stamp in [9, 12, 10] as [UInt64] { AccessMarks.record(marks.marks + 3, stamp: stamp) }
        #expect(marks.lastUse(3) == 12)
        #expect(marks.takeCount(3) == 3)
        #expect(marks.takeCount(3) == 0)
        for _ in 0..<300 { AccessMarks.record(marks.marks + 3, stamp: 20) }
        #expect(marks.lastUse(3) == 20)
        #expect(marks.takeCount(3) == 15)
    }

    @Test func `a slot that was never in use has no uses`() {
        let marks = AccessMarks()
        for slot in [Int.min, -1, 2000, .max] {
            #expect(marks.takeCount(slot) == 0, "\(slot)")
            #expect(marks.lastUse(slot) == 0, "\(slot)")
        }
    }

    @Test(.spawnsProcesses) func `a use that changes nothing writes nothing`() async {
        await #expect(processExitsWith: .success) {
            // A read-only page, after the last uses are recorded.
            let page = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
            let mark = try #require(page).assumingMemoryBound(to: Atomic<UInt64>.self)
            mark.initialize(to: Atomic(0))
            for _ in 0..<15 { AccessMarks.record(mark, stamp: 5) }
            #expect(mprotect(page, 4096, PROT_READ) == 0)
            for stamp in [5, 5, 4] as [UInt64] { AccessMarks.record(mark, stamp: stamp) }
        }
    }
}
