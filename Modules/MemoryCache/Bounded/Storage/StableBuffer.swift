/// Elements in memory of their own, for readers that must not touch a reference count: under a lock that many readers
/// hold at once, the counts of an array's buffer would be what they fight over.
///
/// Not a value: copies share the memory, and growth moves the elements.
///
/// `@unchecked` because of the pointers: the ``ReadMostlyLock`` around the ``MemoryCacheState`` that the buffer is part of
/// guards them. Elements are changed under all its lanes and read under at least one; deadlines alone are changed under
/// one, and are atomic (see ``EntryReader``). What ``RetiredEntries`` has taken out is changed no more.
@usableFromInline
struct StableBuffer<Element: Sendable>: @unchecked Sendable {
    /// Frees the elements when the last copy of the buffer goes.
    @usableFromInline
    final class Owner {
        @usableFromInline let base: UnsafeMutablePointer<Element>
        @usableFromInline let capacity: Int
        @usableFromInline var count = 0

        @inlinable
        init(capacity: Int) {
            self.capacity = capacity
            base = LargePages.allocate(byteCount: capacity * MemoryLayout<Element>.stride)
                .bindMemory(to: Element.self, capacity: capacity)
        }

        @inlinable
        deinit {
            base.deinitialize(count: count)
            LargePages.deallocate(base, byteCount: capacity * MemoryLayout<Element>.stride)
        }
    }

    @usableFromInline var owner: Owner
    @usableFromInline var base: UnsafeMutablePointer<Element>
    @usableFromInline var count: Int

    @inlinable
    init() {
        owner = Owner(capacity: 16)
        base = owner.base
        count = 0
    }

    @inlinable
    init(repeating element: Element, count: Int) {
        owner = Owner(capacity: count)
        base = owner.base
        base.initialize(repeating: element, count: count)
        owner.count = count
        self.count = count
    }

    /// Unchecked but in debug builds: indices are the cache's own.
    @inlinable
    subscript(index: Int) -> Element {
        unsafeAddress {
            assert(index >= 0 && index < count)
            return UnsafePointer(base + index)
        }
        nonmutating unsafeMutableAddress {
            assert(index >= 0 && index < count)
            return base + index
        }
    }

    @inlinable
    mutating func append(_ element: Element) {
        if count == owner.capacity {
            let larger = Owner(capacity: count * 2)
            larger.base.moveInitialize(from: base, count: count)
            owner.count = 0
            larger.count = count
            (owner, base) = (larger, larger.base)
        }
        (base + count).initialize(to: element)
        count += 1
        owner.count = count
    }
}
