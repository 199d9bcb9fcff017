#if Sandbox
    public import AlcedoCore
    import CSandboxShim
    public import FoundationEssentials

    /// A decoder that runs the decoder of a format in a worker process.
    ///
    /// ```swift
    /// let sandbox = try Sandbox()
    /// let decoder = SandboxedDecoder(.png, in: sandbox)
    /// let image = try decoder.decode(data, options: DecodingOptions(target: TargetSize(width: 320, height: 320)))
    /// ```
    ///
    /// The result is the same as that of the decoder itself. In addition to its errors, decoding throws an
    /// ``/AlcedoCore/ImageDecodingError`` with one of these codes:
    ///
    /// - `decoderFailed`: the decoder crashed, made a forbidden system call, or sent impossible values.
    /// - `decoderUnavailable`: no worker could be started or became idle in time, or the sandbox is shut down.
    /// - `exceedsLimit`: the image exceeded one of the sizes of ``SandboxConfiguration``.
    /// - `timedOut`: the decoder exceeded ``SandboxConfiguration/timeLimit`` or ``SandboxConfiguration/cpuTimeLimit``.
    /// - `outOfMemory`: the decoder exceeded ``SandboxConfiguration/memoryLimit``, or the kernel killed the worker
    ///   because the memory of the system ran out.
    ///
    /// Images whose bytes arrive in pieces are decoded at the end, without previews. Frames of animations are decoded
    /// in the workers on demand; a worker keeps the state of at most four animations.
    public struct SandboxedDecoder: ImageDecoding {
        /// The format whose decoder runs.
        public let format: ImageFormat
        private let sandbox: Sandbox

        /// Creates a decoder.
        ///
        /// - Parameters:
        ///   - format: A format of the registry that the workers pass to ``SandboxWorker/runIfRequested(_:prepare:)``.
        ///   - sandbox: The worker processes.
        public init(_ format: ImageFormat, in sandbox: Sandbox) {
            self.format = format
            self.sandbox = sandbox
        }

        /// Reads the properties of an image in a worker. Throws the errors that the type's description lists.
        public func inspect(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> ImageInfo {
            try request(.inspect, data, DecodingOptions(limits: limits), expecting: .info) { worker, reply, _ in
                var payload = try worker.payload(of: reply)
                let info = try ImageInfo(from: &payload, limits: limits)
                guard info.format == format else { throw WorkerFailure.violation("another format") }
                return info
            }
        }

        /// Decodes an image in a worker. Throws the errors that the type's description lists.
        public func decode(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
            try request(.decode, data, options, expecting: .image) { worker, reply, receiver in
                let pixels = try receiver.finish(reply, in: worker.output)
                return try DecodedImage(reply, pixels, in: worker.output, of: format, options) { list in
                    SandboxedFrames(list, of: data, format, options, sandbox)
                }
            }
        }

        /// Decodes an image in a worker, and passes its rows on in pieces of about 256 KiB.
        ///
        /// The worker is in use while the consumer processes rows. If the consumer decodes in the same sandbox, it can
        /// therefore wait for a worker in vain.
        ///
        /// Throws the errors that the type's description lists, or the error that the consumer throws.
        @discardableResult
        public func decodeRows(
            _ data: Data, options: DecodingOptions, into consumer: any PixelRowConsumer
        ) throws -> ImageDamage? {
            try sandbox.pool.withWorker { worker in
                try worker.send(.rows, format, data, options)
                var receiver = RowReceiver(consumer, options)
                return try receiver.receive(from: worker)
            }
        }

        /// Returns the bytes that the worker holds, plus the copy of the pixels that the app makes. Throws the errors
        /// that the type's description lists.
        public func decodingByteCount(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> Int {
            try request(.measure, data, options, expecting: .count) { _, reply, _ in
                guard let count = Int(exactly: reply.value), count >= 0 else {
                    throw WorkerFailure.violation("an invalid number of bytes")
                }
                return count
            }
        }

        private func request<Result>(
            _ kind: RequestKind, _ data: Data, _ options: DecodingOptions, expecting expected: ReplyKind,
            _ read: (WorkerProcess, alcedo_sandbox_reply, inout PixelReceiver) throws -> Result
        ) throws(ImageDecodingError) -> Result {
            do {
                return try sandbox.pool.withWorker { worker in
                    try worker.send(kind, format, data, options)
                    var receiver = PixelReceiver(options.limits)
                    var reply = try worker.receive()
                    while kind == .decode, try receiver.receive(reply, in: worker.output) {
                        reply = try worker.receive()
                    }
                    switch ReplyKind(rawValue: reply.kind) {
                    case expected: return try read(worker, reply, &receiver)
                    case .failure: throw try worker.decodingError(reply)
                    default: throw WorkerFailure.violation("an unexpected message")
                    }
                }
            } catch let error as ImageDecodingError {
                throw error
            } catch {
                throw ImageDecodingError(.decoderFailed, "sandbox: \(error)")
            }
        }
    }

    extension CodecRegistry.Entry {
        /// Returns the codec with a decoder that runs in a sandbox. The encoder is the same.
        ///
        /// ```swift
        /// let sandbox = try Sandbox()
        /// let codecs = CodecRegistry.standard.adding(.webp.sandboxed(in: sandbox))
        /// ```
        public func sandboxed(in sandbox: Sandbox) -> Self {
            var entry = self
            entry.decoder = SandboxedDecoder(format, in: sandbox)
            return entry
        }
    }

    extension CodecRegistry {
        /// Returns a registry whose decoders all run in a sandbox. Encoders and the recognition of formats are the
        /// same.
        ///
        /// ```swift
        /// configuration.codecs = CodecRegistry.standard.sandboxed(in: try Sandbox())
        /// ```
        public func sandboxed(in sandbox: Sandbox) -> CodecRegistry {
            CodecRegistry(entries.map { $0.sandboxed(in: sandbox) })
        }
    }
#endif
