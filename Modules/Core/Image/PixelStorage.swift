import AlcedoLibc

/// The memory behind pixel buffers: one allocation, aligned to 64 bytes.
///
/// `@unchecked` because of the raw pointer. No lock is needed: bytes are written only before the object is shared, and
/// by an owner that has just seen that it alone holds the object, as the standard library's arrays do.
final class PixelStorage: @unchecked Sendable {
    static let alignment = 64
    /// A terabyte. Nobody has it for one picture, and some allocators, those of the sanitizers among them, end the process
    /// that asks for more.
    private static let mostBytes = 1 << 40

    let base: UnsafeMutableRawPointer
    let byteCount: Int
    private let block: UnsafeMutableRawPointer

    /// Allocates `byteCount` bytes that the caller must initialise; nil when the system refuses.
    init?(byteCount: Int) {
        // Aligned by hand: the C library's aligned allocation of a large block takes fresh pages from the system each
        // time where a plain one reuses what was freed, and decoding into fresh pages takes a fifth longer.
        guard byteCount <= Self.mostBytes, let block = malloc(byteCount + Self.alignment) else { return nil }
        self.block = block
        base = block.alignedUp(toMultipleOf: Self.alignment)
        self.byteCount = byteCount
    }

    func copy() -> PixelStorage {
        guard let other = PixelStorage(byteCount: byteCount) else {
            preconditionFailure("no memory for a copy of \(byteCount) bytes of pixels")
        }
        other.base.copyMemory(from: base, byteCount: byteCount)
        return other
    }

    deinit { free(block) }
}
