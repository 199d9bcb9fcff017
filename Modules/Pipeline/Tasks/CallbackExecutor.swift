/// Where callbacks run.
public struct CallbackExecutor: Sendable {
    /// Runs a piece of work, at once or later, never twice.
    public typealias Run = @Sendable (_ work: @escaping @Sendable () -> Void) -> Void

    let run: Run

    /// - Parameter run: For instance one that puts work on a queue of the app, or into the loop of its user interface.
    ///   Pieces of work may come from several threads; the pipeline gives it no second piece for a task before the first
    ///   has run.
    public init(_ run: @escaping Run) { self.run = run }

    /// The thread where it happens: the work must not block.
    public static let immediate = CallbackExecutor { $0() }

    /// The main actor.
    public static let mainActor = CallbackExecutor { work in Task { @MainActor in work() } }
}
