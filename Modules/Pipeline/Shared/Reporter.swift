import AlcedoCore

/// The observers and tracers of a pipeline. Observers are called in their order with each step. Without observers and
/// tracers, no clock is read.
struct Reporter: Sendable {
    let observers: [any PipelineObserving]
    let tracers: [any LoadTracing]
    let clock: any TimeSource

    var now: Duration { observers.isEmpty ? .zero : clock.uptime }

    /// Whether there is an observer or a tracer.
    var isObserved: Bool { !observers.isEmpty || !tracers.isEmpty }

    func callAsFunction(_ key: ImageKey, _ stage: PipelineEvent.Stage, since start: Duration? = nil) {
        guard !observers.isEmpty else { return }
        let duration = start.map { clock.uptime - $0 } ?? .zero
        let event = PipelineEvent(key: key, stage: stage, duration: duration)
        for observer in observers { observer.pipelineDidReport(event) }
    }

    /// The innermost span of the current load; nil without tracers, and outside of a load.
    var current: ActiveSpan? { tracers.isEmpty ? nil : ActiveSpan.current }

    /// Begins a step of the current load; nil without tracers, and outside of a load.
    func begin(_ name: LoadSpan.Name, _ key: ImageKey? = nil, detail: @autoclosure () -> String? = nil) -> ActiveSpan? {
        current?.begin(name, key: key, detail: detail())
    }

    /// Runs `body` as a call of a caller. Without tracers, only calls it.
    func call<Value>(
        _ name: LoadSpan.Name, _ request: ImageRequest, _ body: () async throws -> Value
    ) async rethrows -> Value {
        guard !tracers.isEmpty else { return try await body() }
        return try await ActiveSpan(name, request.key, tracers: tracers, clock: clock).run(body)
    }
}

/// The outermost interceptor of a pipeline with tracers. It makes each load a span.
struct LoadTracer: ImageLoadInterceptor {
    let report: Reporter

    func load(
        _ request: ImageRequest, next: @Sendable (ImageRequest) async throws -> ImageResponse
    ) async throws -> ImageResponse {
        try await report.call(.load, request) { try await next(request) }
    }
}
