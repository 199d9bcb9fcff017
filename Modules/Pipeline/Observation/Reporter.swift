import AlcedoCore

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
