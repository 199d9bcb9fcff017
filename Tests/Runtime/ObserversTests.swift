import AlcedoRuntime
import AlcedoTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ObserversTests {
    private final class Holder: Sendable {
        let held: any Sendable
        init(_ held: any Sendable) { self.held = held }
        func record(_ event: Int) {}
    }

    private let seen = Watched<[String]>([])
    private let observers: Observers<Int>

    init() {
        observers = Observers { [seen] event in seen.update { $0.append("permanent \(event)") } }
    }

    private func observe(_ name: String) -> any Sendable {
        observers.add { [seen] event in seen.update { $0.append("\(name) \(event)") } }
    }

    /// Returns the observation of a handler that alone holds the observation of another, which records events.
    private func observeNested() -> any Sendable { observers.add(Holder(observe("nested")).record) }

    @Test func `handlers are called in order, the permanent one first, until their token is released`() {
        let first = observe("first")
        var second: (any Sendable)? = observe("second")
        #expect(second != nil)

        observers.tell(1)
        second = nil
        observers.tell(2)

        #expect(seen.value == ["permanent 1", "first 1", "second 1", "permanent 2", "first 2"])
        withExtendedLifetime(first) {}
    }

    @Test func `a prepared call leaves out handlers that were removed or added since`() {
        var removed: (any Sendable)? = observe("removed")
        #expect(removed != nil)

        let call = observers.call(with: 1)
        removed = nil
        let added = observe("added")
        call()

        #expect(seen.value == ["permanent 1"])
        withExtendedLifetime(added) {}
    }

    @Test func `the end of an observation is told after its handler was removed`() {
        let counts = Watched<[Int]>([])
        var token: (any Sendable)? = observers.add({ _ in }) { [observers] in
            counts.update { $0.append(observers.count) }
        }
        #expect(token != nil)
        #expect(observers.count == 2)

        token = nil

        #expect(counts.value == [1])
    }

    @Test func `ending an observation may end another that its handler references`() {
        var outer: (any Sendable)? = observeNested()
        observers.tell(1)
        #expect(outer != nil)

        outer = nil
        observers.tell(2)

        #expect(seen.value == ["permanent 1", "nested 1", "permanent 2"])
    }
}
