import AlcedoLibc

/// A growing buffer that readers can access without changing a reference count. Under a lock that many readers hold at
/// once, threads would contend for the reference count of an array's buffer.
///
/// The type has no value semantics: copies share the memory, and growth moves the elements.
///
/// `@unchecked` because of the pointers: the ``ReadMostlyLock`` around the ``MemoryCacheState`` that contains the
/// buffer protects them. Elements are changed while all lanes are locked, and read while at least one lane is locked.
/// Only deadlines are also changed while a single lane is locked, and they are atomic (see ``EntryLookup``). Elements
/// taken out by ``RetiredEntries`` are no longer changed.
@usableFromInline
struct StableBuffer<Element: Sendable>: @unchecked Sendable {
    /// The owner of the memory, which frees the elements when the last copy of the buffer is released.
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

    /// Accesses an element. The index is checked in debug builds only, because all indices come from the cache itself.
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

/// Memory for random access, in huge pages if the system offers them. With small pages, a lookup among a million
/// entries misses the processor's TLB as often as its data cache.
@usableFromInline
enum LargePages {
    private static let pageSize = 2 << 20

    /// Returns memory that is aligned to 64 bytes, or to a huge page if it spans at least two.
    ///
    /// Blocks of 256 KiB and more are mapped, so that the system gets them back when they are released. `malloc` may
    /// keep freed blocks, and `malloc_trim` does not return the blocks of a thread's arena.
    ///
    /// Ends the process if the system has no memory left, as every allocation in Swift does.
    @usableFromInline
    static func allocate(byteCount: Int) -> UnsafeMutableRawPointer {
        guard isMapped(byteCount) else { return .allocate(byteCount: byteCount, alignment: 64) }
        let needed = mappedCount(byteCount)
        guard needed >= 2 * pageSize else { return map(needed) }
        let reserved = needed + pageSize
        let start = map(reserved)
        let memory = start.alignedUp(toMultipleOf: pageSize)
        let (before, after) = (memory - start, reserved - needed - (memory - start))
        if before > 0 { munmap(start, before) }
        if after > 0 { munmap(memory + needed, after) }
        // This is only a hint. A system without huge pages refuses it.
        _ = madvise(memory, needed, Int32(MADV_HUGEPAGE))
        return memory
    }

    // Fails like the allocations of the standard library, because a put has no way to report an error.
    private static func map(_ byteCount: Int) -> UnsafeMutableRawPointer {
        guard let start = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            start != MAP_FAILED
        else { fatalError("cannot allocate \(byteCount) bytes for the cache index: out of memory") }
        return start
    }

    /// Releases memory that was allocated with the same number of bytes.
    @usableFromInline
    static func deallocate(_ memory: UnsafeMutableRawPointer, byteCount: Int) {
        if isMapped(byteCount) { munmap(memory, mappedCount(byteCount)) } else { memory.deallocate() }
    }

    private static func isMapped(_ byteCount: Int) -> Bool { byteCount >= 256 << 10 }

    /// Rounds up to a multiple of 64 KiB, which is a multiple of the page size of every system.
    private static func mappedCount(_ byteCount: Int) -> Int { (byteCount + 0xFFFF) & ~0xFFFF }
}
