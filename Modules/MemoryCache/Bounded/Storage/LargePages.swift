import AlcedoLibc

/// Memory for random access: in large pages where the system has them. Among a million entries a lookup would otherwise
/// miss the processor's page table cache as often as its data cache.
@usableFromInline
enum LargePages {
    private static let pageSize = 2 << 20

    /// Returns memory that is aligned to 64 bytes, or to a large page when it fills two.
    ///
    /// Large blocks are mapped, so that the system gets them back at once. `malloc` may keep freed blocks: those of a
    /// thread's arena are not even returned by `malloc_trim`.
    ///
    /// Ends the process when the system has no memory, as every allocation in Swift does.
    @usableFromInline
    static func allocate(byteCount: Int) -> UnsafeMutableRawPointer {
        guard isLarge(byteCount) else { return .allocate(byteCount: byteCount, alignment: 64) }
        let (needed, reserved) = (mappedCount(byteCount), mappedCount(byteCount) + pageSize)
        guard let start = mmap(nil, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            start != MAP_FAILED
        else { fatalError("there is no memory for \(byteCount) bytes of the cache's index") }
        let memory = start.alignedUp(toMultipleOf: pageSize)
        let (before, after) = (memory - start, reserved - needed - (memory - start))
        if before > 0 { munmap(start, before) }
        if after > 0 { munmap(memory + needed, after) }
        // A hint only: a system without large pages refuses it.
        _ = madvise(memory, needed, Int32(MADV_HUGEPAGE))
        return memory
    }

    /// Releases memory that was allocated with the same number of bytes.
    @usableFromInline
    static func deallocate(_ memory: UnsafeMutableRawPointer, byteCount: Int) {
        if isLarge(byteCount) { munmap(memory, mappedCount(byteCount)) } else { memory.deallocate() }
    }

    private static func isLarge(_ byteCount: Int) -> Bool { byteCount >= 2 * pageSize }

    /// Rounds up to what every system's pages divide.
    private static func mappedCount(_ byteCount: Int) -> Int { (byteCount + 0xFFFF) & ~0xFFFF }
}
