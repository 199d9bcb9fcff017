import AlcedoCore
import FoundationEssentials
import AlcedoTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct TrimObserversTests {
    private final class Holder: Sendable {
        let held: any Sendable
        init(_ held: any Sendable) { self.held = held }
        func record(_ report: DataCacheTrimReport) {}
    }

    private let observers = TrimObservers(nil)
    private let report = DataCacheTrimReport(removals: [
        DataCacheItem(name: "a", size: 1, storedAt: Date(), lastUse: Date(), evictionReason: .costLimit)
    ])

    /// Returns the observation of a handler that alone holds the observation of another, which counts.
    private func observeNested(_ count: Watched<Int>) -> any Sendable {
        let inner = observers.add { _ in count.update { $0 += 1 } }
        return observers.add(Holder(inner).record)
    }

    @Test func `ending an observation may end another that its handler references`() {
        let count = Watched(0)
        var outer: (any Sendable)? = observeNested(count)
        observers.tell(report)
        #expect(count.value == 1)
        #expect(outer != nil)

        outer = nil
        observers.tell(report)

        #expect(count.value == 1)
    }
}
