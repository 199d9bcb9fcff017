import Glibc

/// Writes to the process's standard streams. Text goes out in one call, so that lines of many tasks do not mix.
public enum Console {
    /// Whether standard output is a terminal.
    public static var outputIsTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Whether standard error is a terminal.
    public static var errorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Writes results.
    public static func output(_ text: String) { write(text, to: STDOUT_FILENO) }

    /// Writes a problem, on a line of its own.
    public static func problem(_ text: String) { write("\(text)\n", to: STDERR_FILENO) }

    /// Writes text as it is to standard error, for a progress line.
    static func progress(_ text: String) { write(text, to: STDERR_FILENO) }

    private static func write(_ text: String, to file: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
