import Alcedo
import Synchronization

/// Counts anew from each beginning on, so that one pipeline's runs can be told apart.
final class SwitchedMetrics: PipelineObserving {
    private struct Counts: Sendable {
        var metrics = PipelineMetrics()
        var traffic = NetworkTraffic()
    }

    private let current = Mutex(Counts())

    func begin() { current.withLock { $0 = Counts() } }

    /// What was counted since the last beginning.
    var snapshot: PipelineMetrics.Snapshot { current.withLock { $0.metrics.snapshot } }

    /// The same of the network.
    var traffic: NetworkTraffic { current.withLock { $0.traffic } }

    func pipelineDidReport(_ event: PipelineEvent) {
        let metrics = current.withLock { counts in
            counts.traffic.take(event)
            return counts.metrics
        }
        metrics.pipelineDidReport(event)
    }
}
