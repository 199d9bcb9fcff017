#if Sandbox
    import AlcedoCore
    import CSandboxShim
    import FoundationEssentials

    /// An image that a worker has opened. The worker receives the file once, and is given back when the image has been
    /// decoded.
    final class SandboxedReader: ImageReading {
        private let data: Data
        private let format: ImageFormat
        private let page: Int
        private let limits: DecodingLimits
        private let sandbox: Sandbox
        private let lease: WorkerLease
        private(set) var header: ImageHeader

        init(
            _ data: Data, of format: ImageFormat, page: Int, limits: DecodingLimits, in sandbox: Sandbox
        ) throws(ImageDecodingError) {
            (self.data, self.format, self.page, self.limits, self.sandbox) = (data, format, page, limits, sandbox)
            lease = WorkerLease(of: sandbox.pool)
            header = ImageHeader(format: format, size: PixelSize(width: 0, height: 0))
            try Self.typed { try withImage { _ in } }
        }

        deinit { lease.end(sending: .close) }

        func info() throws(ImageDecodingError) -> ImageInfo {
            try Self.typed {
                try withImage { worker in
                    try worker.send(.info, DecodingOptions(limits: limits))
                    var payload = try worker.payload(of: worker.receive(.info))
                    let info = try ImageInfo(from: &payload, limits: limits)
                    guard info.format == format else { throw WorkerFailure.violation("another format") }
                    return info
                }
            }
        }

        /// Returns the bytes that the worker holds, plus the copy of the pixels that the app makes.
        func decodingByteCount(_ options: DecodingOptions) throws(ImageDecodingError) -> Int {
            try Self.typed {
                try withImage { worker in
                    try worker.send(.measure, options)
                    guard let count = Int(exactly: try worker.receive(.count).value), count >= 0 else {
                        throw WorkerFailure.violation("an invalid number of bytes")
                    }
                    return count
                }
            }
        }

        func decode(_ options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
            defer { lease.end() }
            return try Self.typed {
                try withImage { worker in
                    try worker.send(.decode, options)
                    var receiver = PixelReceiver(options.limits)
                    var reply = try worker.receive()
                    while try receiver.receive(reply, in: worker.output) { reply = try worker.receive() }
                    try worker.check(reply, .image)
                    let pixels = try receiver.finish(reply, in: worker.output)
                    return try DecodedImage(reply, pixels, in: worker.output, of: format, options) { list in
                        SandboxedFrames(list, of: data, format, options, sandbox)
                    }
                }
            }
        }

        func decodeRows(_ options: DecodingOptions, into consumer: any PixelRowConsumer) throws -> ImageDamage? {
            defer { lease.end() }
            return try withImage { worker in
                try worker.send(.rows, options)
                var receiver = RowReceiver(consumer, options)
                return try receiver.receive(from: worker)
            }
        }

        /// Calls `body` with a worker that has opened the image.
        private func withImage<Result>(_ body: (WorkerProcess) throws -> Result) throws -> Result {
            try lease.withWorker(begin: open, body)
        }

        private func open(_ worker: WorkerProcess) throws {
            try worker.send(.open, format.rawValue, data, DecodingOptions(limits: limits), index: page)
            let reply = try worker.receive(.opened)
            // The size can exceed the limit of pixels, as the natural size of a vector image does. It is zero when the
            // header has an invalid one.
            guard let width = Int32(exactly: reply.width), let height = Int32(exactly: reply.height),
                (width > 0 && height > 0) || (width == 0 && height == 0)
            else { throw WorkerFailure.violation("an image of \(reply.width) x \(reply.height) pixels") }
            header = ImageHeader(
                format: format, size: PixelSize(width: Int(width), height: Int(height)),
                orientation: try reply.checkedOrientation())
        }

        /// Runs work in a worker. Its failures become errors of decoding.
        static func typed<Result>(_ body: () throws -> Result) throws(ImageDecodingError) -> Result {
            do {
                return try body()
            } catch let error as ImageDecodingError {
                throw error
            } catch {
                throw ImageDecodingError(.decoderFailed, "sandbox: \(error)")
            }
        }
    }
#endif
