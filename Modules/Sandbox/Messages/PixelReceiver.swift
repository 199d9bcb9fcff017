#if Sandbox
    import AlcedoCore
    import CSandboxShim

    /// Copies the pixels of an image out of the shared memory: the rows that the worker reports while it decodes the
    /// others, and the rest at the end. Nothing is read twice, because the worker could change it in between.
    struct PixelReceiver {
        private let limits: DecodingLimits
        private var pixels: PixelBuffer?
        private var rowCount = 0
        /// The offset of the first row in the shared memory.
        private var offset: UInt64 = 0
        /// Whether the decoder has given up the buffer whose rows were finished. This happens at most once.
        private var isVoid = false

        init(_ limits: DecodingLimits) { self.limits = limits }

        /// Handles a message about finished rows. Returns false for any other message.
        mutating func receive(_ reply: alcedo_sandbox_reply, in output: UnsafeRawBufferPointer) throws -> Bool {
            switch ReplyKind(rawValue: reply.kind) {
            case .finishedRows:
                let count = Int(reply.code)
                guard !isVoid, count > rowCount else { throw WorkerFailure.violation("rows that were finished before") }
                let copied = try copy(reply, rowCount: count, in: output)
                // A worker that reports single rows could otherwise keep the app busy.
                guard copied >= OutputLayout.reportByteCount else { throw WorkerFailure.violation("too few rows") }
                return true
            case .noFinishedRows:
                guard !isVoid else { throw WorkerFailure.violation("an unexpected message") }
                (pixels, rowCount, isVoid) = (nil, 0, true)
                return true
            default: return false
            }
        }

        /// Copies the rows that are missing, and returns all pixels. Throws `WorkerFailure`, or `ImageDecodingError`
        /// `outOfMemory`.
        mutating func finish(
            _ reply: alcedo_sandbox_reply, in output: UnsafeRawBufferPointer
        ) throws -> PixelBuffer {
            // The decoder may have copied the rows to another buffer, for example to turn them.
            if reply.offset != offset { (pixels, rowCount) = (nil, 0) }
            _ = try copy(reply, rowCount: nil, in: output)
            guard let pixels else { throw WorkerFailure.violation("no pixels") }
            return pixels.reinterpreted(as: try reply.checkedHeader(limits).alphaMode)
        }

        /// Copies rows up to `rowCount`, or all rows. Returns the number of bytes that were copied.
        private mutating func copy(
            _ reply: alcedo_sandbox_reply, rowCount end: Int?, in output: UnsafeRawBufferPointer
        ) throws -> Int {
            let (size, format, alphaMode) = try reply.checkedHeader(limits)
            guard end ?? 0 <= size.height, let count = PixelBuffer.byteCount(size: size, format: format) else {
                throw WorkerFailure.violation("an image of \(size) pixels")
            }
            let source = try reply.part(of: output, count: count)
            if pixels.map({ ($0.size, $0.format) == (size, format) }) != true {
                guard pixels == nil || end == nil else { throw WorkerFailure.violation("rows of another image") }
                // The memory is not initialized, because every row will be written.
                pixels = PixelBuffer(size: size, format: format, alphaMode: alphaMode, initialize: { _, _ in })
                rowCount = 0
            }
            guard var pixels = self.pixels else { throw ImageDecodingError.noMemory(for: size) }
            // Otherwise, the copy would have two owners, and writing would copy it.
            self.pixels = nil
            let missing = rowCount * pixels.bytesPerRow..<(end ?? size.height) * pixels.bytesPerRow
            pixels.withUnsafeMutableBytes { memory in
                UnsafeMutableRawBufferPointer(rebasing: memory[missing]).copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: source[missing]))
            }
            (self.pixels, rowCount, offset) = (pixels, end ?? size.height, reply.offset)
            return missing.count
        }
    }
#endif
