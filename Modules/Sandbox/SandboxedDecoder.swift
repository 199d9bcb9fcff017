#if Sandbox
    public import AlcedoCore
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
    /// - `outOfMemory`: the decoder exceeded ``SandboxConfiguration/maximumMemoryByteCount``, or the kernel killed the
    ///   worker because the memory of the system ran out.
    ///
    /// An opened image has a worker until it is decoded or its reader is released, also while a consumer processes its
    /// rows, which arrive in pieces of about 256 KiB. A thread that opens another image of the sandbox meanwhile can
    /// therefore wait for a worker in vain. What is asked after decoding opens the image again.
    ///
    /// Images whose bytes arrive in pieces are decoded at the end, without previews. Frames of animations are decoded
    /// in the workers on demand; a worker keeps the state of at most four animations.
    public struct SandboxedDecoder: ImageDecoding {
        /// The format whose decoder runs.
        public let format: ImageFormat
        /// The index of the page, for a format with pages. Default: 0.
        package var page = 0
        private let sandbox: Sandbox

        /// Creates a decoder. Of a file with pages, it decodes the first one, whichever the workers' registry selects.
        ///
        /// - Parameters:
        ///   - format: A format of the registry that the workers pass to
        ///     ``SandboxWorker/runIfRequested(_:conversions:prepare:)``.
        ///   - sandbox: The worker processes.
        public init(_ format: ImageFormat, in sandbox: Sandbox) {
            self.format = format
            self.sandbox = sandbox
        }

        /// Opens an image in a worker. Throws the errors that the type's description lists.
        public func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
            try SandboxedReader(data, of: format, page: page, limits: limits, in: sandbox)
        }
    }

    extension SandboxedDecoder: PageDecoding {}

    extension CodecRegistry.Entry {
        /// Returns the codec with a decoder that runs in a sandbox. The encoders are the same.
        ///
        /// The workers use the decoder of their own registry for the format, for the page of this entry's decoder.
        /// Other parameters of this entry's decoder have no effect.
        ///
        /// The result has no ``/AlcedoCore/CodecRegistry/Entry/asyncDecoder``, because pipelines would prefer it to
        /// the sandbox, and workers are synchronous. Add a codec that only has an asynchronous decoder to the registry
        /// after this call.
        ///
        /// ```swift
        /// let sandbox = try Sandbox()
        /// let codecs = CodecRegistry.standard.adding(.webp.sandboxed(in: sandbox))
        /// ```
        public func sandboxed(in sandbox: Sandbox) -> Self {
            var entry = self
            entry.decoder = SandboxedDecoder(format, in: sandbox).selecting(page: decoder.selectedPage)
            entry.asyncDecoder = nil
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
