import Alcedo

/// What each layer did since the last beginning, so that one pipeline's runs can be told apart.
final class SwitchedMetrics: PipelineObserving {
    /// What went to servers.
    let servers = ExchangeTally()
    /// What went to the response cache, which stands before them.
    let responses = ExchangeTally()
    private let current = Locked(PipelineMetrics())

    func begin() {
        current.withLock { $0 = PipelineMetrics() }
        servers.begin()
        responses.begin()
    }

    /// What the pipeline has counted.
    var snapshot: PipelineMetrics.Snapshot { current.withLock { $0 }.snapshot }

    func pipelineDidReport(_ event: PipelineEvent) { current.withLock { $0 }.pipelineDidReport(event) }
}
