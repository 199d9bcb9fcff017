#if Sandbox
    import AlcedoCore
    import AlcedoRuntime
    import CSandboxShim

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
            /// The number of rows that were reported, or nil if a buffer whose rows were reported is gone. No further
            /// rows are reported then.
            var reportedCount: Int? = 0
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
            state.withLock { ($0.isOpen, $0.reportedCount) = (true, 0) }
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
            guard isGranted else { return nil }
            discardReport()
            return Lease(base + layout.directOffset, of: self)
        }

        /// Tells the app that the first rows of the direct area are final.
        private func report(_ rowCount: Int, of pixels: PixelBuffer) {
            let isWorthIt = state.withLock { state in
                guard state.isOpen, let reported = state.reportedCount,
                    (rowCount - reported) * pixels.bytesPerRow >= OutputLayout.reportByteCount
                else { return false }
                state.reportedCount = rowCount
                return true
            }
            guard isWorthIt else { return }
            var reply = alcedo_sandbox_reply(.finishedRows)
            reply.code = UInt32(rowCount)
            reply.offset = UInt64(layout.directOffset)
            reply.describe(pixels.size, pixels.format, pixels.alphaMode, .up)
            WorkerSocket.send(reply)
        }

        /// Tells the app that another buffer uses the direct area, so that its copy of the first rows is void.
        private func discardReport() {
            let wasReported = state.withLock { state in
                guard let reported = state.reportedCount, reported > 0 else { return false }
                state.reportedCount = nil
                return true
            }
            if wasReported { WorkerSocket.send(alcedo_sandbox_reply(.noFinishedRows)) }
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

            func didFinishRows(_ count: Int, of pixels: PixelBuffer) { owner.report(count, of: pixels) }

            deinit { owner.state.withLock { $0.isLeased = false } }
        }
    }
#endif
