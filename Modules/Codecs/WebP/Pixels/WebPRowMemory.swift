import AlcedoCore
import Glibc

/// Address space for all rows of a picture, of which only those in use take memory.
final class WebPRowMemory {
    let bytes: UnsafeMutableRawBufferPointer
    private var releasedByteCount = 0

    /// Fewer bytes are not worth a call of the system.
    private static let releasedAtOnce = 256 << 10

    /// Throws `outOfMemory`.
    init(byteCount: Int) throws(ImageDecodingError) {
        let start = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let start, start != MAP_FAILED else {
            throw ImageDecodingError(.outOfMemory, "there is no memory for \(byteCount) bytes of rows")
        }
        bytes = UnsafeMutableRawBufferPointer(start: start, count: byteCount)
    }

    deinit { munmap(bytes.baseAddress, bytes.count) }

    /// Gives the memory of the first `count` bytes back to the system; they read as nought afterwards.
    func release(first count: Int) {
        let page = sysconf(Int32(_SC_PAGESIZE))
        guard page > 0, let base = bytes.baseAddress, count <= bytes.count else { return }
        let end = count / page * page
        guard end - releasedByteCount >= Self.releasedAtOnce else { return }
        // The pages stay ours, so a failure costs memory and nothing else.
        _ = madvise(base + releasedByteCount, end - releasedByteCount, Int32(MADV_DONTNEED))
        releasedByteCount = end
    }
}
