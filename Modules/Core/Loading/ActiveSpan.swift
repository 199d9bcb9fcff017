import Synchronization

/// A span that has begun, and the tracers that receive its end.
package final class ActiveSpan: Sendable {
    /// The innermost span of the current task, or of the job on the current thread; nil outside of a traced load.
    @TaskLocal package static var current: ActiveSpan?

    private static let lastID = Atomic<UInt64>(0)

    private let span: LoadSpan
    private let tracers: [any LoadTracing]
    private let clock: any TimeSource
    private let hasEnded = Atomic(false)

    /// Begins the span of a call. A call inside of another load is a child of the current span.
    package convenience init(
        _ name: LoadSpan.Name, _ key: ImageKey, tracers: [any LoadTracing], clock: any TimeSource
    ) {
        self.init(name, key, detail: nil, in: Self.current?.span, tracers, clock)
    }

    private init(
        _ name: LoadSpan.Name, _ key: ImageKey, detail: String?, in parent: LoadSpan?, _ tracers: [any LoadTracing],
        _ clock: any TimeSource
    ) {
        let id = Self.lastID.add(1, ordering: .relaxed).newValue
        span = LoadSpan(
            id: id, parent: parent?.id, root: parent?.root, name: name, detail: detail, key: key, start: clock.uptime)
        self.tracers = tracers
        self.clock = clock
        for tracer in tracers { tracer.spanDidBegin(span) }
    }

    /// Begins a child. By default, it has the key of this span.
    package func begin(_ name: LoadSpan.Name, key: ImageKey? = nil, detail: String? = nil) -> ActiveSpan {
        ActiveSpan(name, key ?? span.key, detail: detail, in: span, tracers, clock)
    }

    /// Ends the span. Only the first call has an effect.
    package func end(_ outcome: LoadSpan.Outcome) {
        guard !hasEnded.exchange(true, ordering: .relaxed) else { return }
        var ended = span
        (ended.end, ended.outcome) = (clock.uptime, outcome)
        for tracer in tracers { tracer.spanDidEnd(ended) }
    }

    /// Runs `body` with this span as the current one, and ends the span with its outcome.
    package func run<Value>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
    ) async rethrows -> Value {
        do {
            let value = try await Self.$current.withValue(self, operation: body)
            end(.success)
            return value
        } catch {
            end(LoadSpan.Outcome(throwing: error))
            throw error
        }
    }

    /// Runs `body`, which does not suspend, with this span as the current one, and ends the span with its outcome.
    package func run<Value>(_ body: () throws -> Value) rethrows -> Value {
        do {
            let value = try Self.$current.withValue(self, operation: body)
            end(.success)
            return value
        } catch {
            end(LoadSpan.Outcome(throwing: error))
            throw error
        }
    }
}
