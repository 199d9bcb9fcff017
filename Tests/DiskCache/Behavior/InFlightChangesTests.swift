import Testing

@testable import AlcedoDiskCache

struct InFlightChangesTests {
    private var changes = InFlightChanges()

    @Test mutating func `who waits is kept by those that have begun, however they end, and by no others`() async {
        #expect(changes.isEmpty)
        let (first, second) = (changes.begin(), changes.begin())
        #expect(first < second && !changes.isEmpty)
        var freed: [Int] = []
        await withCheckedContinuation { waiter in
            changes.add(waiter)
            let later = changes.begin()
            for id in [second, later, changes.begin(), first] { freed.append(changes.end(id).count) }
            waiter.resume()
        }
        #expect(freed == [0, 0, 0, 1])
        #expect(changes.isEmpty)
    }

    @Test mutating func `what began later keeps nobody, though it goes on`() async {
        let first = changes.begin()
        var freed: [Int] = []
        await withCheckedContinuation { waiter in
            changes.add(waiter)
            let later = changes.begin()
            freed.append(changes.end(first).count)
            freed.append(changes.end(later).count)
            waiter.resume()
        }
        #expect(freed == [1, 0])
    }
}
