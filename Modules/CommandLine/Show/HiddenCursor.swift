import AlcedoLibc
import AlcedoProgramSupport

/// Hides the terminal's cursor until the program ends, whichever way, but not from the shell, to which Ctrl-Z leads meanwhile.
enum HiddenCursor {
    private static var hiding: StaticString { "\u{1B}[?25l" }
    private static var showing: StaticString { "\u{1B}[?25h" }
    /// Also ends the part of a picture or a colour that may be the last that the terminal has got.
    private static var restoring: StaticString { "\u{1B}\\\u{1B}[0m\u{1B}[?25h" }

    static func begin() {
        TerminalRestoration.begin {
            for number in [SIGTSTP, SIGCONT] { signal(number, SIG_IGN) }
            put(restoring)
        }
        Console.output("\(hiding)")
        if !Interruption.isIgnored(SIGQUIT) { signal(SIGQUIT, leave) }
        guard !Interruption.isIgnored(SIGTSTP) else { return }
        signal(SIGTSTP, leave)
        signal(SIGCONT, goOn)
    }

    static func end() {
        for number in [SIGTSTP, SIGCONT, SIGQUIT] where !Interruption.isIgnored(number) { signal(number, nil) }
        Console.output("\(showing)")
        TerminalRestoration.end()
    }

    /// As handlers of signals may. A terminal that takes nothing does not keep the process.
    private static func put(_ text: StaticString) {
        var terminal = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
        if poll(&terminal, 1, 250) > 0 { _ = write(STDOUT_FILENO, text.utf8Start, text.utf8CodeUnitCount) }
    }

    /// Shows the cursor, and then stops or ends the process as if nobody had listened.
    private static let leave: @convention(c) (Int32) -> Void = { number in
        let before = errno
        put(restoring)
        signal(number, nil)
        // Comes when this handler has ended.
        raise(number)
        errno = before
    }

    private static let goOn: @convention(c) (Int32) -> Void = { _ in
        let before = errno
        put(hiding)
        signal(SIGTSTP, HiddenCursor.leave)
        errno = before
    }
}
