import AlcedoCore
import AlcedoLibc

/// Memory for all rows of an image or a plane. For a large image, ``release(first:)`` returns physical memory to the
/// system.
final class WebPRowMemory {
    let bytes: UnsafeMutableRawBufferPointer
    let samples: UnsafeMutablePointer<UInt8>
    private let isMapped: Bool
    private var releasedByteCount = 0

    /// The minimum size of a memory mapping. For less, the allocator is faster because it reuses pages.
    private static let mappedByteCount = 4 << 20

    /// The minimum number of bytes that justifies a system call.
    private static let releasedAtOnce = 4 << 20

    /// Allocates the memory. Throws `outOfMemory` when a memory mapping fails.
    init(byteCount: Int) throws(ImageDecodingError) {
        isMapped = byteCount >= Self.mappedByteCount
        guard isMapped else {
            let start = UnsafeMutableRawPointer.allocate(byteCount: max(1, byteCount), alignment: 16)
            bytes = UnsafeMutableRawBufferPointer(start: start, count: byteCount)
            samples = start.bindMemory(to: UInt8.self, capacity: byteCount)
            return
        }
        let start = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let start, start != MAP_FAILED else {
            throw ImageDecodingError(.outOfMemory, "cannot allocate \(byteCount) bytes of rows: out of memory")
        }
        // The first access to a page is slow, and huge pages reduce the number of pages. A failure only costs time.
        _ = madvise(start, byteCount, Int32(MADV_HUGEPAGE))
        bytes = UnsafeMutableRawBufferPointer(start: start, count: byteCount)
        samples = start.bindMemory(to: UInt8.self, capacity: byteCount)
    }

    deinit { if isMapped { munmap(bytes.baseAddress, bytes.count) } else { bytes.deallocate() } }

    /// Returns whole pages of the first `count` bytes to the system when at least 4 MiB of them have not been returned.
    /// Their bytes must not be read afterwards. Does nothing when the memory is not mapped.
    func release(first count: Int) {
        let page = sysconf(Int32(_SC_PAGESIZE))
        guard isMapped, page > 0, let base = bytes.baseAddress, count <= bytes.count else { return }
        let end = count / page * page
        guard end - releasedByteCount >= Self.releasedAtOnce else { return }
        // The pages stay mapped, so that a failure only costs memory.
        _ = madvise(base + releasedByteCount, end - releasedByteCount, Int32(MADV_DONTNEED))
        releasedByteCount = end
    }
}
