import Glibc

/// Memory that is read here and there: in large pages where the system has them, because among a million entries a look-up
/// else misses the processor's list of pages as often as its cache.
@usableFromInline
enum LargePages {
    private static let pageSize = 2 << 20

    /// Aligned to 64 bytes, or to a large page when it fills two. To be given back with `deallocate()`.
    @usableFromInline
    static func allocate(byteCount: Int) -> UnsafeMutableRawPointer {
        guard byteCount >= 2 * pageSize else { return .allocate(byteCount: byteCount, alignment: 64) }
        let memory = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: pageSize)
        // A wish only: a system without large pages refuses it.
        _ = madvise(memory, byteCount, Int32(MADV_HUGEPAGE))
        return memory
    }
}
