#if Sandbox
    import AlcedoCore
    import AlcedoRuntime

    /// The shared memory for the results of a worker.
    ///
    /// While a request decodes an image, the first pixel buffer that the decoder creates uses the shared memory itself,
    /// so that the pixels need no copy if the buffer becomes the result. All other pixels are copied.
    ///
    /// `@unchecked` because of the pointer. `state` decides which buffer may use the direct area; the other areas
    /// belong to the thread that serves requests.
    final class OutputMemory: @unchecked Sendable {
        private struct State {
            var isOpen = false
            var isLeased = false
        }

        private let bytes: UnsafeMutableRawBufferPointer
        private let layout: OutputLayout
        private let state = Locked(State())

        init(_ bytes: UnsafeMutableRawBufferPointer) {
            self.bytes = bytes
            layout = OutputLayout(byteCount: bytes.count)
            PixelMemory.setProvider { [self] byteCount in lease(byteCount) }
        }

        /// The number of bytes that an image can have.
        var capacity: Int { layout.capacity }

        /// The memory for strings and lists.
        var payload: UnsafeMutableRawBufferPointer {
            UnsafeMutableRawBufferPointer(rebasing: bytes[..<OutputLayout.payloadByteCount])
        }

        /// Runs `body`, in which one new pixel buffer may use the direct area.
        func lending<Result, E: Error>(_ body: () throws(E) -> Result) throws(E) -> Result {
            state.withLock { $0.isOpen = true }
            defer { state.withLock { $0.isOpen = false } }
            return try body()
        }

        /// Returns the offset of the pixels, which are copied unless they are in the direct area already. Returns nil
        /// if they do not fit.
        func place(_ pixels: PixelBuffer) -> Int? {
            pixels.withUnsafeBytes { source in
                if let start = source.baseAddress, let base = bytes.baseAddress {
                    let offset = start - UnsafeRawPointer(base)
                    if (layout.directOffset..<layout.copyOffset).contains(offset) { return offset }
                }
                guard let area = copyArea(offset: 0, count: source.count) else { return nil }
                area.copyMemory(from: source)
                return layout.copyOffset
            }
        }

        /// Returns a part of the area for copies, or nil if it is too small.
        func copyArea(offset: Int, count: Int) -> UnsafeMutableRawBufferPointer? {
            guard offset <= layout.capacity, count <= layout.capacity - offset else { return nil }
            let start = layout.copyOffset + offset
            return UnsafeMutableRawBufferPointer(rebasing: bytes[start..<start + count])
        }

        /// The offset of a part of the area for copies within the shared memory.
        func outputOffset(ofCopy offset: Int) -> UInt64 { UInt64(layout.copyOffset + offset) }

        private func lease(_ byteCount: Int) -> (any PixelMemoryLease)? {
            guard byteCount <= layout.capacity, let base = bytes.baseAddress else { return nil }
            let isGranted = state.withLock { state in
                guard state.isOpen, !state.isLeased else { return false }
                state.isLeased = true
                return true
            }
            return isGranted ? Lease(base + layout.directOffset, of: self) : nil
        }

        /// The direct area, in use by one pixel buffer.
        ///
        /// `@unchecked` because of the pointer, which does not change.
        private final class Lease: PixelMemoryLease, @unchecked Sendable {
            let base: UnsafeMutableRawPointer
            private let owner: OutputMemory

            init(_ base: UnsafeMutableRawPointer, of owner: OutputMemory) {
                self.base = base
                self.owner = owner
            }

            deinit { owner.state.withLock { $0.isLeased = false } }
        }
    }
#endif
