#if Sandbox
    import AlcedoCore
    import AlcedoRuntime
    package import AlcedoSandbox
    import FoundationEssentials

    /// The worker processes of a program, which start with the first image that needs them, because most runs decode
    /// none.
    package final class ProgramSandbox: Sendable {
        /// The workers of ``/AlcedoCore/CodecRegistry/programs``, with the default settings.
        static let standard = ProgramSandbox()

        private let configuration: SandboxConfiguration
        /// The maximum number of bytes of memory of a worker.
        var memoryLimit: Int { configuration.maximumMemoryByteCount }
        private let onUnsupported: @Sendable (SandboxError) -> Void
        private let started: Locked<Result<Sandbox, SandboxError>?>

        /// Creates a sandbox whose workers start with the first image.
        ///
        /// - Parameters:
        ///   - configuration: The settings of the workers. Default: those of ``/AlcedoSandbox/SandboxConfiguration``.
        ///   - onUnsupported: Receives the reason once, when the kernel or the container does not allow the workers.
        package init(
            _ configuration: SandboxConfiguration = SandboxConfiguration(),
            onUnsupported: @escaping @Sendable (SandboxError) -> Void = { _ in }
        ) {
            self.configuration = configuration
            self.onUnsupported = onUnsupported
            started = Locked(nil)
        }

        /// Creates a sandbox with workers that run, or with the error that prevented them from starting.
        package init(_ result: Result<Sandbox, SandboxError>) {
            (configuration, onUnsupported) = (SandboxConfiguration(), { _ in })
            started = Locked(result)
        }

        /// Returns the workers, and starts them on the first call, which blocks for some 20 milliseconds. Threads that
        /// call it meanwhile need the workers too, so they wait.
        func workers() -> Result<Sandbox, SandboxError> {
            started.withLock { started in
                if let started { return started }
                let result = Result { () throws(SandboxError) in try Sandbox(configuration) }
                switch result {
                case .failure(let error) where error.code == .unsupported:
                    onUnsupported(error)
                    started = result
                // A worker that was killed while it started does not mean that the next one cannot start.
                case .failure: break
                case .success: started = result
                }
                return result
            }
        }
    }

    /// A decoder that runs in the worker processes of a program.
    struct WorkerDecoder: PageDecoding {
        let format: ImageFormat
        let sandbox: ProgramSandbox
        /// The decoder for systems that do not allow confined processes. With nil, every image is an error there.
        let unconfined: (any ImageDecoding)?
        var page = 0

        func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
            switch sandbox.workers() {
            case .success(let sandbox):
                var decoder = SandboxedDecoder(format, in: sandbox)
                decoder.page = page
                return try decoder.open(data, limits: limits)
            case .failure(let error):
                if error.code == .unsupported, let unconfined {
                    return try unconfined.selecting(page: page).open(data, limits: limits)
                }
                throw ImageDecodingError(
                    .decoderUnavailable,
                    "\(format.rawValue.uppercased()): cannot decode the image, because no confined process starts: "
                        + "\(error)")
            }
        }
    }
#endif
