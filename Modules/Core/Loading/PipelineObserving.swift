/// An observer of a pipeline's steps, for logs, metrics and tests.
///
/// ```swift
/// struct FailureLogger: PipelineObserving {
///     func pipelineDidReport(_ event: PipelineEvent) {
///         if case .failed(let error) = event.stage { print("\(event.key) failed: \(error)") }
///     }
/// }
/// ```
///
/// Methods are called on any thread and must return without blocking. The events of one load arrive in order.
public protocol PipelineObserving: Sendable {
    /// Receives one event for each step.
    func pipelineDidReport(_ event: PipelineEvent)
}
