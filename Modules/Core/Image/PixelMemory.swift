import AlcedoRuntime

/// A source of memory for pixel buffers, in a process that must not allocate them on the heap. The worker processes of
/// the sandbox decode into memory that they share with the app, so that pixels are copied only once.
package enum PixelMemory {
    /// A closure that returns memory for a number of bytes, or nil to allocate them on the heap.
    package typealias Provider = @Sendable (_ byteCount: Int) -> (any PixelMemoryLease)?

    private static let provider = Locked<Provider?>(nil)

    /// Sets the source of the memory of all pixel buffers that this process creates from now on. Default: none.
    package static func setProvider(_ new: Provider?) { provider.withLock { $0 = new } }

    static func lease(_ byteCount: Int) -> (any PixelMemoryLease)? {
        provider.withLock { $0 }?(byteCount)
    }
}

/// The memory of one pixel buffer. The buffer releases the object when it no longer uses the memory.
package protocol PixelMemoryLease: AnyObject, Sendable {
    /// The first byte, at a 64-byte boundary.
    var base: UnsafeMutableRawPointer { get }

    /// Receives the number of rows, from the first, that the decoder has finished, before all rows are finished.
    func didFinishRows(_ count: Int, of pixels: PixelBuffer)
}
