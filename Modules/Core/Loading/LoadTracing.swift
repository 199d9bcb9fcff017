/// A tracer of loads, which receives the beginning and the end of each step.
///
/// ```swift
/// struct SlowSteps: LoadTracing {
///     func spanDidBegin(_ span: LoadSpan) {}
///
///     func spanDidEnd(_ span: LoadSpan) {
///         if let time = span.duration, time > .seconds(1) { print("\(span.name) of \(span.key): \(time)") }
///     }
/// }
/// configuration.tracers = [SlowSteps()]
/// ```
///
/// Every span that begins ends exactly once, also after an error and a cancellation. Methods are called on any thread,
/// several concurrently, and must return without blocking. A parent begins before its children.
///
/// Each caller has a span of its own. When callers share work, its spans belong to the caller that began it. They may
/// end after the span of that caller, if it cancels. All spans have ended when the `shutDown()` of the pipeline, and
/// then that of its downloader, have returned, except for writes to a stalled disk, a preview that is being decoded,
/// and steps in a call of an asynchronous codec that ignores its cancellation.
public protocol LoadTracing: Sendable {
    /// Receives a span that begins. Its ``LoadSpan/end`` and ``LoadSpan/outcome`` are nil.
    func spanDidBegin(_ span: LoadSpan)

    /// Receives a span that has ended, with its end and outcome.
    func spanDidEnd(_ span: LoadSpan)
}
