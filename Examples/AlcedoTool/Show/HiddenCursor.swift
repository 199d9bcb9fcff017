import ExampleSupport
import Glibc

/// Hides the terminal's cursor, but not from the shell, to which Ctrl-Z leads meanwhile.
enum HiddenCursor {
    private static var hiding: StaticString { "\u{1B}[?25l" }
    private static var showing: StaticString { "\u{1B}[?25h" }

    static func begin() {
        Console.output("\(hiding)")
        guard !Interruption.isIgnored(SIGTSTP) else { return }
        signal(SIGTSTP, stop)
        signal(SIGCONT, goOn)
    }

    static func end() {
        signal(SIGTSTP, nil)
        signal(SIGCONT, nil)
        Console.output("\(showing)")
    }

    /// As handlers of signals may.
    private static func put(_ text: StaticString) { _ = write(STDOUT_FILENO, text.utf8Start, text.utf8CodeUnitCount) }

    /// Shows the cursor, and then stops the process as if nobody had listened.
    private static let stop: @convention(c) (Int32) -> Void = { number in
        let before = errno
        put(showing)
        signal(number, nil)
        // Comes when this handler has ended.
        raise(number)
        errno = before
    }

    private static let goOn: @convention(c) (Int32) -> Void = { _ in
        let before = errno
        put(hiding)
        signal(SIGTSTP, HiddenCursor.stop)
        errno = before
    }
}
