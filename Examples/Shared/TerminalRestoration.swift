import Alcedo

/// The work that makes the terminal usable again when the process ends while a program uses it in a way of its own.
public enum TerminalRestoration {
    private static let work = Locked<(@Sendable () -> Void)?>(nil)

    /// Has `work` done before the process ends by ``ExitStatus`` or by a second signal, unless ``end()`` comes first. It
    /// takes the place of earlier work, may block for a moment, and must not call this type.
    public static func begin(_ work: @escaping @Sendable () -> Void) { self.work.withLock { $0 = work } }

    /// The terminal is usable again.
    public static func end() { work.withLock { $0 = nil } }

    /// Does the work, once. A second caller returns when it is done. Not for handlers of signals.
    static func run() {
        work.withLock { work in
            work?()
            work = nil
        }
    }
}
