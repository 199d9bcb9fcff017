import AlcedoCore
import AlcedoLibc

/// Room for all rows of a picture. Of a large one only the rows in use take memory.
final class WebPRowMemory {
    let bytes: UnsafeMutableRawBufferPointer
    /// The same as samples.
    let samples: UnsafeMutablePointer<UInt8>
    private let isMapped: Bool
    private var releasedByteCount = 0

    /// Fewer bytes come from the allocator, which has pages at hand; new ones cost more than they spare.
    private static let mappedByteCount = 4 << 20

    /// Fewer bytes are not worth a call of the system.
    private static let releasedAtOnce = 4 << 20

    /// Throws `outOfMemory`.
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
            throw ImageDecodingError(.outOfMemory, "there is no memory for \(byteCount) bytes of rows")
        }
        // A page that is new costs as much as what is decoded into it; refused, it only costs that.
        _ = madvise(start, byteCount, Int32(MADV_HUGEPAGE))
        bytes = UnsafeMutableRawBufferPointer(start: start, count: byteCount)
        samples = start.bindMemory(to: UInt8.self, capacity: byteCount)
    }

    deinit { if isMapped { munmap(bytes.baseAddress, bytes.count) } else { bytes.deallocate() } }

    /// Gives the memory of the first `count` bytes back to the system; they read as nought afterwards.
    func release(first count: Int) {
        let page = sysconf(Int32(_SC_PAGESIZE))
        guard isMapped, page > 0, let base = bytes.baseAddress, count <= bytes.count else { return }
        let end = count / page * page
        guard end - releasedByteCount >= Self.releasedAtOnce else { return }
        // The pages stay ours, so a failure costs memory and nothing else.
        _ = madvise(base + releasedByteCount, end - releasedByteCount, Int32(MADV_DONTNEED))
        releasedByteCount = end
    }
}
