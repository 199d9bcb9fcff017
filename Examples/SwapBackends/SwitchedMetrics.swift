import Alcedo
import Synchronization

/// Counts anew from each beginning on, so that one pipeline's runs can be told apart.
final class SwitchedMetrics: PipelineObserving {
    private let current = Mutex(PipelineMetrics())

    func begin() { current.withLock { $0 = PipelineMetrics() } }

    /// What was counted since the last beginning.
    var snapshot: PipelineMetrics.Snapshot { current.withLock { $0.snapshot } }

    func pipelineDidReport(_ event: PipelineEvent) {
        current.withLock { $0 }.pipelineDidReport(event)
    }
}
