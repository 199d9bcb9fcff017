/// Memory for a kernel, initialized to zero, aligned to a cache line, and freed with its owner.
///
/// Kernels use pointers because a bounds check for every sample costs more than the arithmetic. The owner computes the
/// count, and every kernel documents the range that it accesses.
struct Scratch<Element: BitwiseCopyable>: ~Copyable {
    let base: UnsafeMutablePointer<Element>

    /// Allocates memory for elements.
    ///
    /// - Parameter count: The number of elements, at least zero. Memory for vector loops needs a multiple of their
    ///   step.
    init(count: Int) {
        let byteCount = count * MemoryLayout<Element>.stride
        let memory = UnsafeMutableRawPointer.allocate(byteCount: max(byteCount, 1), alignment: 64)
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
        base = memory.assumingMemoryBound(to: Element.self)
    }

    deinit { UnsafeMutableRawPointer(base).deallocate() }
}

/// The memory for one row that is forwarded to the next consumer.
final class RowMemory {
    private let memory: Scratch<UInt8>
    private let byteCount: Int
    var base: UnsafeMutableRawPointer { UnsafeMutableRawPointer(memory.base) }

    init(byteCount: Int) {
        memory = Scratch(count: byteCount)
        self.byteCount = byteCount
    }

    /// The bytes of the row. Valid during the lifetime of this object.
    var buffer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: byteCount) }
}

/// The pixels of one row as floats, shared by all calls of one operation.
final class PixelRow {
    private let memory: Scratch<SIMD4<Float>>
    var base: UnsafeMutablePointer<SIMD4<Float>> { memory.base }

    init(_ width: Int) { memory = Scratch(count: width) }
}
