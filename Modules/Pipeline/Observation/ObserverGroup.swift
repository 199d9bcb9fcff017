public import AlcedoCore

/// Tells several observers, in order.
public struct ObserverGroup: PipelineObserving {
    /// Who is told, in order.
    public var observers: [any PipelineObserving]

    /// Tells these, in order.
    public init(_ observers: [any PipelineObserving]) { self.observers = observers }

    public func pipelineDidReport(_ event: PipelineEvent) {
        for observer in observers { observer.pipelineDidReport(event) }
    }
}
