/// The counts of a sandbox, for the metrics.
struct SandboxCounts: Sendable {
    /// Whether the sandbox decodes all formats, not only HEIF.
    var isComplete: Bool
    /// The number of originals whose decoder failed, by the reason of the failure.
    var failures: [(reason: String, count: Int)]
    /// The number of processes that were started.
    var startedWorkers: Int
    /// The number of processes that were replaced after many originals or because their memory had grown.
    var recycledWorkers: Int
    /// The number of idle processes that the kernel or another process ended.
    var lostWorkers: Int
}
