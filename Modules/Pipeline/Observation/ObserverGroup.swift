public import AlcedoCore

/// Tells several observers, in order.
public struct ObserverGroup: PipelineObserving {
    /// Who is told, in order.
    package var observers: [any PipelineObserving]

    /// Tells these, in order.
    public init(_ observers: [any PipelineObserving]) { self.observers = observers }

    public func pipelineDidReport(_ event: PipelineEvent) {
        for observer in observers { observer.pipelineDidReport(event) }
    }
}

/// Tells the observer, if there is one.
struct Reporter: Sendable {
    let observer: (any PipelineObserving)?
    let clock: any TimeSource

    var now: Duration { observer == nil ? .zero : clock.uptime }

    func callAsFunction(_ key: ImageKey, _ stage: PipelineEvent.Stage, since start: Duration? = nil) {
        guard let observer else { return }
        let duration = start.map { clock.uptime - $0 } ?? .zero
        observer.pipelineDidReport(PipelineEvent(key: key, stage: stage, duration: duration))
    }
}
