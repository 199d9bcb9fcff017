/// The memory behind pixel buffers: one allocation, aligned to 64 bytes.
///
/// `@unchecked` because of the raw pointer. No lock is needed: bytes are written only by `init` and by a
/// ``PixelBuffer`` that has just seen that it alone holds the object, as the standard library's arrays do.
final class PixelStorage: @unchecked Sendable {
    let base: UnsafeMutableRawPointer
    let byteCount: Int

    /// Allocates `byteCount` bytes that the caller must initialise.
    init(byteCount: Int) {
        base = .allocate(byteCount: max(1, byteCount), alignment: PixelBuffer.rowAlignment)
        self.byteCount = byteCount
    }

    func copy() -> PixelStorage {
        let other = PixelStorage(byteCount: byteCount)
        other.base.copyMemory(from: base, byteCount: byteCount)
        return other
    }

    deinit { base.deallocate() }
}
