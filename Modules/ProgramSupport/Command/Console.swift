import AlcedoLibc
package import FoundationEssentials
import Synchronization

/// Writes to the process's standard streams. Text goes out in one call, so that lines of many tasks do not mix.
package enum Console {
    /// Whether standard output is a terminal.
    package static var outputIsTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Whether standard error is a terminal.
    package static var errorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Whether standard error is a terminal that a line can be rewritten on.
    package static var errorIsLive: Bool { errorIsTerminal && variable("TERM") != "dumb" }

    /// Source: no-color.org, for which an empty variable is none.
    private static let errorHasColor = errorIsLive && (variable("NO_COLOR") ?? "").isEmpty

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// Why standard output did not take a text, as the system numbers it; 0 when it took all.
    private static let lostOutput = Atomic<Int32>(0)

    /// That standard output could not take all that was written, which nobody has been told; nil when it could.
    static var outputError: OutputError? {
        let number = lostOutput.load(ordering: .relaxed)
        return number == 0 ? nil : lossError(number)
    }

    private static func lossError(_ number: Int32) -> OutputError {
        OutputError(description: "standard output takes no more: \(String(cString: strerror(number)))")
    }

    /// Puts something that takes no text in the place of each standard stream that is closed: the next file or socket
    /// would get the place otherwise, and then what is meant for people.
    static func reserveStandardStreams() {
        // The lowest free number is given first, so each gets its own.
        for file in STDIN_FILENO...STDERR_FILENO where fcntl(file, F_GETFD) < 0 { _ = open("/dev/null", O_RDONLY) }
    }

    /// Writes results.
    package static func output(_ text: String) {
        if !write(text, to: STDOUT_FILENO) { lostOutput.store(errno, ordering: .relaxed) }
    }

    /// Writes results that are no text. Throws when standard output does not take them all.
    package static func output(_ data: Data) throws(OutputError) {
        if !write(data.bytes, to: STDOUT_FILENO) { throw lossError(errno) }
    }

    /// Writes a problem, on one line of its own whatever it quotes.
    ///
    /// - Parameter clears: Whether a progress line may be on the terminal, which it takes the place of.
    package static func problem(_ text: String, clears: Bool = false) {
        let line = printable(text)
        let speaker = errorHasColor ? line.firstRange(of: ": ") : nil
        let shown = speaker.map { "\u{1B}[31m\(line[..<$0.upperBound])\u{1B}[0m\(line[$0.upperBound...])" } ?? line
        _ = write("\(clears && errorIsLive ? clearing : "")\(shown)\n", to: STDERR_FILENO)
    }

    /// Writes a line to standard error while a progress line may be on the terminal, which it takes the place of.
    package static func notice(_ text: String) {
        _ = write("\(errorIsLive ? clearing : "")\(printable(text))\n", to: STDERR_FILENO)
    }

    /// What clears a line of a terminal.
    static let clearing = "\r\u{1B}[K"

    /// The text with control characters replaced, so that a name cannot break a line, command the terminal or reorder what
    /// stands beside it.
    package static func printable(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0.isTerminalControl ? "?" : $0 }))
    }

    /// Writes text as it is to standard error, for a progress line.
    static func progress(_ text: String) { _ = write(text, to: STDERR_FILENO) }

    private static func write(_ text: String, to file: Int32) -> Bool {
        let bytes = Array(text.utf8)
        return write(bytes.span.bytes, to: file)
    }

    /// False when the file does not take it all; `errno` says why.
    static func write(_ bytes: RawSpan, to file: Int32) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = AlcedoLibc.write(file, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                if count < 0, errno == EAGAIN {
                    // Whoever reads has made it a stream that does not block.
                    var output = pollfd(fd: file, events: Int16(POLLOUT), revents: 0)
                    poll(&output, 1, -1)
                    continue
                }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }
}

extension Unicode.Scalar {
    /// Whether terminals obey it rather than show it: a control character (C0, DEL, C1), or one that changes the direction of
    /// the text around it (Unicode's `Bidi_Control`).
    var isTerminalControl: Bool { properties.generalCategory == .control || properties.isBidiControl }
}

/// A file that could not be written.
package struct OutputError: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }

    /// - Parameter number: `errno`.
    init(path: String, number: Int32) {
        self.init(description: "cannot write \(path): \(String(cString: strerror(number)))")
    }
}
