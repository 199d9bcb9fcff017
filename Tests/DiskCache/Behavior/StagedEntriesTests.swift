import AlcedoCore
import TestSupport
import Testing

@testable import AlcedoDiskCache

struct StagedEntriesTests {
    private var staged = StagedEntries()

    @Test mutating func `the last staged entry is found, and an earlier one is not written over it`() {
        staged.add(CachedData(bytes(1)), 1, for: key("a"))
        staged.add(CachedData(bytes(2)), 2, for: key("a"))
        #expect(staged.entry(for: key("a")) == CachedData(bytes(2)))
        staged.markWritten(2, for: key("a"))
        staged.end(2, for: key("a"))

        let mayWrite = staged.mayWrite(1, for: key("a"))
        #expect(!mayWrite)
        staged.end(1, for: key("a"))
        #expect(staged.entry(for: key("a")) == nil)
    }

    @Test mutating func `if the last staged entry fails, it is not found, and earlier ones are still written`() {
        staged.add(CachedData(bytes(1)), 1, for: key("a"))
        staged.add(CachedData(bytes(2)), 2, for: key("a"))
        staged.end(2, for: key("a"))
        #expect(staged.entry(for: key("a")) == nil)
        let wasThere = staged.remove(key("b"), 3)
        #expect(!wasThere)
        #expect(staged.mayWrite(1, for: key("a")))
    }

    /// Its write may end after the removal and after later stores.
    @Test(arguments: [false, true])
    mutating func `a staged entry that is removed is not written`(isStoredAnew: Bool) {
        let small = ImageKey(ResourceKey("b"), variant: "small")
        staged.add(CachedData(bytes(1)), 1, for: key("a"))
        staged.add(CachedData(bytes(2)), 2, for: small)
        let wasThere = staged.remove(key("a"), 3)
        let keys = staged.removeAll(of: ResourceKey("b"), 4)
        #expect(wasThere)
        #expect(keys == [small])
        if isStoredAnew {
            staged.add(CachedData(bytes(3)), 5, for: key("a"))
            #expect(staged.mayWrite(5, for: key("a")))
            staged.markWritten(5, for: key("a"))
            staged.end(5, for: key("a"))
        }
        #expect(!staged.mayWrite(1, for: key("a")))
        #expect(!staged.mayWrite(2, for: small))
        staged.end(1, for: key("a"))
        #expect(staged.entry(for: key("a")) == nil)
    }

    @Test mutating func `a removal in progress keeps the entries that later stores have written`() {
        staged.add(CachedData(bytes(1)), 1, for: key("a"))
        _ = staged.remove(key("a"), 2)
        staged.add(CachedData(bytes(3)), 3, for: key("a"))
        #expect(staged.keysWritten(after: 2).isEmpty)
        staged.markWritten(3, for: key("a"))
        staged.end(3, for: key("a"))
        staged.removeAll(4)
        staged.markWritten(1, for: key("a"))

        #expect(staged.keysWritten(after: 2) == [key("a")])
        #expect(staged.keysWritten(after: 4).isEmpty)
        staged.endRemoval(2)
        #expect(staged.keysWritten(after: 2).isEmpty)
    }
}
