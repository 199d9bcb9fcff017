import AlcedoCore
import Testing

@testable import AlcedoURLResponseCache

@Suite struct ExchangeTrackerTests {
    private let tracker = ExchangeTracker()
    private let resource = ResourceKey("https://example.test/a.png")

    private func key(_ number: Int) -> ImageKey { ImageKey(resource, variant: "\(number)") }

    @Test func `an earlier exchange does not change what a later one has changed`() {
        let (first, second) = (tracker.begin(resource), tracker.begin(resource))

        #expect(second.acquire(key(0)))

        #expect(!first.acquire(key(0)))
        #expect(second.acquire(key(0)))
        #expect(tracker.begin(resource).acquire(key(0)))
        #expect(first.acquire(key(1)))
    }

    @Test func `the records of a resource that is always in use with new variants stay few`() {
        var current = tracker.begin(resource)
        var maximum = 0
        for number in 0..<10_000 {
            #expect(current.acquire(key(number)))
            // The next exchange begins before this one ends.
            current = tracker.begin(resource)
            maximum = max(maximum, tracker.recordCount(of: resource))
        }

        #expect(maximum <= 2 * 64)
        withExtendedLifetime(current) {}
    }

    @Test func `an exchange that takes long finds all later changes`() {
        let slow = tracker.begin(resource)
        for number in 0..<1_000 { #expect(tracker.begin(resource).acquire(key(number))) }

        for number in 0..<1_000 { #expect(!slow.acquire(key(number)), "\(number)") }
        #expect(slow.acquire(key(1_000)))
    }

    @Test func `the records are released with the last exchange`() {
        for number in 0..<100 { #expect(tracker.begin(resource).acquire(key(number))) }
        do {
            let (first, second) = (tracker.begin(resource), tracker.begin(resource))
            #expect(first.acquire(key(0)))
            #expect(second.acquire(key(1)))
            #expect(tracker.recordCount(of: resource) == 2)
        }

        #expect(tracker.recordCount(of: resource) == 0)
    }
}
