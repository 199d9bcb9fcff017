import Alcedo
import AlcedoProgramSupport

#if Sandbox
    import AlcedoSandbox
#endif

/// The codecs of the server. Decoders run in confined processes if possible.
struct ServerCodecs: Sendable {
    /// Whether decoders run in confined processes.
    enum SandboxMode: Sendable {
        /// Decoders run in confined processes if the build and the kernel allow it.
        case automatic
        /// The server does not start without confined processes.
        case required
        /// Decoders run in the process of the server, except that of HEIF.
        case off
    }

    /// An error that prevents decoders from running in confined processes.
    struct SandboxUnavailable: Error, CustomStringConvertible {
        let reason: String

        var description: String { "the sandbox cannot start: \(reason)" }
    }

    /// The codecs whose decoders run in the process of the server. In a build with HEIF, ``start(_:_:)`` does not
    /// return them, because their decoder of HEIF starts worker processes without the settings of the server.
    static let unconfined = ServerCodecs(registry: .programs)

    /// The notice of a server without sandbox.
    private static let offNotice = "the sandbox is off: --no-sandbox was given"

    let registry: CodecRegistry
    /// A message for standard error if not all originals are decoded in the sandbox, or not all of their fonts can be.
    var notice: String?
    /// A closure that returns the counts of the sandbox; nil if there is no sandbox.
    var sandboxCounts: (@Sendable () -> SandboxCounts)?

    /// Starts the processes of the sandbox, if the mode or HEIF needs it. Blocks for some 20 milliseconds.
    ///
    /// With the mode `off`, only HEIF is decoded in the sandbox. If the sandbox cannot start, HEIF is not decoded.
    ///
    /// - Throws: ``SandboxUnavailable`` if the mode is `required` and the sandbox cannot start.
    static func start(_ mode: SandboxMode, _ settings: ServerStack.Settings) throws(SandboxUnavailable) -> Self {
        let (codecs, problem) = make(mode, settings)
        if mode == .required, let problem { throw problem }
        return codecs
    }

    /// Returns the maximum time of a decode in the sandbox: half of that of a response. So a decode that takes too long
    /// usually ends while its client waits, and is logged, and a request that waits behind such decodes gets their
    /// worker in time.
    static func timeLimit(_ settings: ServerStack.Settings) -> Duration { settings.limits.idleTimeout / 2 }

    #if Sandbox
        /// Returns the number of processes that ``start(_:_:)`` starts.
        static func workerCount(_ mode: SandboxMode, _ settings: ServerStack.Settings) -> Int {
            mode == .off && !CodecRegistry.programsHaveHEIF ? 0 : settings.threadCount
        }

        private static func make(
            _ mode: SandboxMode, _ settings: ServerStack.Settings
        ) -> (codecs: Self, problem: SandboxUnavailable?) {
            guard workerCount(mode, settings) > 0 else {
                return (ServerCodecs(registry: .programs, notice: offNotice), nil)
            }
            let result = Result { () throws(SandboxError) in try Sandbox(configuration(settings)) }
            // Decoders run in the process of the server, except that of HEIF.
            var codecs = ServerCodecs(registry: CodecRegistry.programs.decodingHEIF(in: result))
            switch result {
            case .success(let sandbox):
                if mode == .off {
                    codecs.notice = "\(offNotice); only HEIF is decoded in it"
                } else {
                    codecs = ServerCodecs(
                        registry: CodecRegistry.programs.sandboxed(in: sandbox), notice: fontNotice(sandbox))
                }
                codecs.sandboxCounts = { Self.counts(sandbox.statistics, isComplete: mode != .off) }
                return (codecs, nil)
            case .failure(let error):
                let problem = SandboxUnavailable(
                    reason: ProblemText.text(String(error.message.trimmingPrefix("sandbox: ")), in: .server))
                let loss = CodecRegistry.programsHaveHEIF ? ", and HEIF is not decoded" : ""
                codecs.notice =
                    mode == .off
                    ? "\(offNotice), and HEIF is not decoded: \(problem)"
                    : "the sandbox is off\(loss): \(problem.reason)"
                return (codecs, problem)
            }
        }

        /// Returns the notice of a sandbox that could not open all fonts at its start; nil if it could.
        private static func fontNotice(_ sandbox: Sandbox) -> String? {
            guard sandbox.unavailableFileCount > 0 else { return nil }
            return "SVG with text may not be decoded: the sandbox cannot open \(sandbox.unavailableFileCount) of its "
                + "font files: raise the limit of open files (ulimit -n)"
        }

        private static func counts(_ statistics: SandboxStatistics, isComplete: Bool) -> SandboxCounts {
            SandboxCounts(
                isComplete: isComplete,
                failures: [
                    ("crash", statistics.crashes), ("system_call", statistics.illegalCalls),
                    ("time", statistics.timeouts), ("memory", statistics.memoryOverruns),
                    ("violation", statistics.violations),
                ],
                startedWorkers: statistics.startedWorkers, recycledWorkers: statistics.recycledWorkers,
                lostWorkers: statistics.lostWorkers)
        }

        private static func configuration(_ settings: ServerStack.Settings) -> SandboxConfiguration {
            var configuration = SandboxConfiguration()
            // Each thread that decodes uses one process at a time.
            configuration.workerCount = settings.threadCount
            configuration.timeLimit = timeLimit(settings)
            configuration.maximumInputByteCount = settings.originalLimit
            configuration.maximumOutputByteCount = settings.limits.decoding.maximumByteCount
            configuration.maximumMemoryByteCount = max(
                configuration.maximumMemoryByteCount, 2 * settings.limits.decoding.maximumByteCount)
            return configuration
        }
    #else
        /// Returns the number of processes that ``start(_:_:)`` starts.
        static func workerCount(_ mode: SandboxMode, _ settings: ServerStack.Settings) -> Int { 0 }

        private static func make(
            _ mode: SandboxMode, _ settings: ServerStack.Settings
        ) -> (codecs: Self, problem: SandboxUnavailable?) {
            guard mode != .off else { return (ServerCodecs(registry: .programs, notice: offNotice), nil) }
            let problem = SandboxUnavailable(reason: "the program was built without the package trait Sandbox")
            return (ServerCodecs(registry: .programs, notice: "the sandbox is off: \(problem.reason)"), problem)
        }
    #endif
}
