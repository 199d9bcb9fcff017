import AlcedoLibc
import CStandardErrorShim
package import FoundationEssentials
import Synchronization

/// The standard streams of the process. Each text is written with a single system call if the stream accepts all of it,
/// so that lines of concurrent tasks do not mix.
package enum Console {
    package static var outputIsTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    package static var errorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Whether standard error is a terminal that can rewrite its current line.
    package static var errorIsLive: Bool { errorIsTerminal && variable("TERM") != "dumb" }

    /// Whether problems are colored. Source: no-color.org, which treats an empty `NO_COLOR` as absent.
    private static let errorHasColor = errorIsLive && (variable("NO_COLOR") ?? "").isEmpty

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// The error number of the last failed write of text to standard output, or 0.
    private static let lostOutput = Atomic<Int32>(0)

    /// The error of the last failed write of text to standard output, or nil if no such write failed. The call that
    /// wrote the text did not throw it.
    static var outputError: OutputError? {
        let number = lostOutput.load(ordering: .relaxed)
        return number == 0 ? nil : lossError(number)
    }

    private static func lossError(_ number: Int32) -> OutputError {
        OutputError(description: "cannot write standard output: \(String(cString: strerror(number)))")
    }

    /// Opens `/dev/null` for each standard stream that is closed. Otherwise the next file or socket would get the
    /// descriptor and receive the output.
    static func reserveStandardStreams() {
        // `open` returns the lowest free descriptor, so each stream gets its own.
        for file in STDIN_FILENO...STDERR_FILENO where fcntl(file, F_GETFD) < 0 { _ = open("/dev/null", O_RDONLY) }
    }

    /// Discards what libraries write to the C stream of standard error, except the words before the end of the process.
    /// They would stand between the lines of the program, which go to the descriptor. Call this function before other
    /// threads start.
    package static func discardLibraryMessages() { alcedo_discard_library_messages() }

    /// Writes text to standard output. Does not throw: ``ExitStatus`` reports a failure when the process ends.
    package static func output(_ text: String) {
        if !write(text, to: STDOUT_FILENO) { lostOutput.store(errno, ordering: .relaxed) }
    }

    /// Writes bytes to standard output. Throws ``OutputError`` if not all bytes can be written.
    package static func output(_ data: Data) throws(OutputError) {
        if !write(data.bytes, to: STDOUT_FILENO) { throw lossError(errno) }
    }

    /// Writes a problem to standard error, as one line even if the text contains line feeds.
    ///
    /// - Parameters:
    ///   - text: The text. On a color terminal, the part up to the first colon and space is red.
    ///   - clears: Whether to clear a progress line that may be on the terminal. Default: false.
    package static func problem(_ text: String, clears: Bool = false) {
        let line = printable(text)
        let prefixEnd = errorHasColor ? line.firstRange(of: ": ") : nil
        let shown = prefixEnd.map { "\u{1B}[31m\(line[..<$0.upperBound])\u{1B}[0m\(line[$0.upperBound...])" } ?? line
        _ = write("\(clears && errorIsLive ? clearing : "")\(shown)\n", to: STDERR_FILENO)
    }

    /// Writes a line to standard error, and clears a progress line that may be on the terminal.
    package static func notice(_ text: String) {
        _ = write("\(errorIsLive ? clearing : "")\(printable(text))\n", to: STDERR_FILENO)
    }

    /// The escape codes that clear the current line of a terminal.
    package static let clearing = "\r\u{1B}[K"

    /// Returns the text with a question mark in place of each control character and each character that changes the
    /// direction of text. A name then cannot break a line, control the terminal or reorder adjacent text.
    package static func printable(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0.isTerminalControl ? "?" : $0 }))
    }

    /// Writes text to standard error unchanged, for a progress line.
    package static func progress(_ text: String) { _ = write(text, to: STDERR_FILENO) }

    private static func write(_ text: String, to file: Int32) -> Bool {
        let bytes = Array(text.utf8)
        return write(bytes.span.bytes, to: file)
    }

    /// Writes all bytes to a file. Returns false on failure, with the reason in `errno`.
    static func write(_ bytes: RawSpan, to file: Int32) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = AlcedoLibc.write(file, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                if count < 0, errno == EAGAIN {
                    // The reader may have made the stream nonblocking, so wait until it accepts data.
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
    /// Whether terminals may interpret the scalar: a control character (C0, DEL, C1) or one that changes the direction
    /// of text (Unicode's `Bidi_Control`).
    package var isTerminalControl: Bool { properties.generalCategory == .control || properties.isBidiControl }
}

/// A failure to write a file or standard output.
package struct OutputError: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }

    /// Creates the error of a failed system call.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - number: The value of `errno`.
    package init(path: String, number: Int32) {
        self.init(description: "cannot write \(path): \(String(cString: strerror(number)))")
    }
}
