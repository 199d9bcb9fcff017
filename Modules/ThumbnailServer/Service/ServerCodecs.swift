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
        /// Decoders run in the process of the server.
        case off
    }

    /// An error that prevents decoders from running in confined processes.
    struct SandboxUnavailable: Error, CustomStringConvertible {
        let reason: String

        var description: String { "the sandbox cannot start: \(reason)" }
    }

    /// The counts of a sandbox, for the metrics.
    struct SandboxCounts: Sendable {
        /// The number of originals whose decoder failed, by the reason of the failure.
        var failures: [(reason: String, count: Int)]
        /// The number of processes that were started.
        var startedWorkers: Int
    }

    /// The codecs whose decoders run in the process of the server.
    static let unconfined = ServerCodecs(registry: .programs)

    let registry: CodecRegistry
    /// A message for standard error if the sandbox is off although the command line does not disable it.
    var notice: String?
    /// A closure that returns the counts of the sandbox; nil if the sandbox is off.
    var sandboxCounts: (@Sendable () -> SandboxCounts)?

    /// Starts the processes of the sandbox, if the mode allows it. Blocks for some 20 milliseconds.
    ///
    /// - Throws: ``SandboxUnavailable`` if the mode is `required` and the sandbox cannot start.
    static func start(_ mode: SandboxMode, _ settings: ServerStack.Settings) throws(SandboxUnavailable) -> Self {
        guard mode != .off else { return unconfined }
        do throws(SandboxUnavailable) {
            return try confined(settings)
        } catch {
            guard mode == .automatic else { throw error }
            var codecs = unconfined
            codecs.notice = "the sandbox is off: \(error.reason)"
            return codecs
        }
    }

    #if Sandbox
        /// Returns the number of processes that ``start(_:_:)`` starts.
        static func workerCount(_ mode: SandboxMode, _ settings: ServerStack.Settings) -> Int {
            mode == .off ? 0 : settings.maxConcurrentDecodes
        }

        private static func confined(_ settings: ServerStack.Settings) throws(SandboxUnavailable) -> Self {
            let sandbox: Sandbox
            do throws(SandboxError) {
                sandbox = try Sandbox(configuration(settings))
            } catch {
                throw SandboxUnavailable(reason: String(error.message.trimmingPrefix("sandbox: ")))
            }
            return ServerCodecs(
                registry: CodecRegistry.programs.sandboxed(in: sandbox),
                sandboxCounts: { Self.counts(sandbox.statistics) })
        }

        private static func counts(_ statistics: SandboxStatistics) -> SandboxCounts {
            SandboxCounts(
                failures: [
                    ("crash", statistics.crashes), ("system_call", statistics.illegalCalls),
                    ("time", statistics.timeouts), ("memory", statistics.memoryOverruns),
                    ("violation", statistics.violations),
                ],
                startedWorkers: statistics.startedWorkers)
        }

        private static func configuration(_ settings: ServerStack.Settings) -> SandboxConfiguration {
            var configuration = SandboxConfiguration()
            // Each thread that decodes uses one process at a time.
            configuration.workerCount = settings.maxConcurrentDecodes
            // A later result would miss the time limit of the response.
            configuration.timeLimit = settings.limits.idleTimeout
            configuration.maximumInputByteCount = settings.originalLimit
            configuration.maximumOutputByteCount = settings.limits.decoding.maximumByteCount
            configuration.memoryLimit = max(configuration.memoryLimit, 2 * settings.limits.decoding.maximumByteCount)
            return configuration
        }
    #else
        /// Returns the number of processes that ``start(_:_:)`` starts.
        static func workerCount(_ mode: SandboxMode, _ settings: ServerStack.Settings) -> Int { 0 }

        private static func confined(_ settings: ServerStack.Settings) throws(SandboxUnavailable) -> Self {
            throw SandboxUnavailable(reason: "the program was built without the package trait Sandbox")
        }
    #endif
}
