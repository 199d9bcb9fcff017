/// Is told what a pipeline does, for logs, metrics and tests.
///
/// Calls come from any thread, in the order of the events of one load, and must return at once.
public protocol PipelineObserving: Sendable {
    /// Is called once for each step.
    func pipelineDidReport(_ event: PipelineEvent)
}
