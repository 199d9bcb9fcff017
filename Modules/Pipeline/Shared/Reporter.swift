import AlcedoCore

/// The observers of a pipeline, called in their order with each step. Without observers, no clock is read.
struct Reporter: Sendable {
    let observers: [any PipelineObserving]
    let clock: any TimeSource

    var now: Duration { observers.isEmpty ? .zero : clock.uptime }

    /// Whether there is an observer.
    var isObserved: Bool { !observers.isEmpty }

    func callAsFunction(_ key: ImageKey, _ stage: PipelineEvent.Stage, since start: Duration? = nil) {
        guard !observers.isEmpty else { return }
        let duration = start.map { clock.uptime - $0 } ?? .zero
        let event = PipelineEvent(key: key, stage: stage, duration: duration)
        for observer in observers { observer.pipelineDidReport(event) }
    }
}
