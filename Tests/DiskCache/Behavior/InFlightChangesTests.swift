import Testing

@testable import AlcedoDiskCache

struct InFlightChangesTests {
    private var changes = InFlightChanges()

    @Test mutating func `a waiter waits for all changes that have begun, and for no later ones`() async {
        #expect(changes.isEmpty)
        let (first, second) = (changes.begin(), changes.begin())
        #expect(first < second)
        #expect(!changes.isEmpty)
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

    @Test mutating func `a later change does not delay a waiter, though it still runs`() async {
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
