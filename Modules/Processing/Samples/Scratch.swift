/// Memory for a kernel: nought at first, aligned to a cache line, freed with its owner.
///
/// Kernels use pointers because a bounds check on every sample costs more than the arithmetic; the owner computes the
/// count, and every kernel says how much it touches.
struct Scratch<Element: BitwiseCopyable>: ~Copyable {
    let base: UnsafeMutablePointer<Element>

    /// - Parameter count: At least nought; a multiple of what the vector loops step by.
    init(count: Int) {
        let byteCount = count * MemoryLayout<Element>.stride
        let memory = UnsafeMutableRawPointer.allocate(byteCount: max(byteCount, 1), alignment: 64)
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
        base = memory.assumingMemoryBound(to: Element.self)
    }

    deinit { UnsafeMutableRawPointer(base).deallocate() }
}
