/// Error messages of the library, as the programs print them.
package enum ProblemText {
    /// A program, with the options that its messages may name.
    package enum Program: Sendable {
        case tool, server

        /// The parts of messages that are for developers, and the parts that replace them.
        fileprivate var replacements: [(String, String)] {
            let total = self == .tool ? "--max-total-pixels" : "no option raises this limit"
            let name = self == .tool ? "alcedo" : "thumbnail-server"
            return [
                ("DecodingLimits.maximumPixelCount", "--max-pixels"),
                ("DecodingLimits.maximumByteCount", "--max-decoded"), ("maximumDecodingByteCount", "--max-decoded"),
                ("ImageConverter.maximumEncodingByteCount", "--max-decoded"),
                // The programs set it to the same number.
                ("SandboxConfiguration.maximumOutputByteCount", "--max-decoded"),
                ("DecodingLimits.maximumFrameCount", "--max-frames"),
                // The server decodes first frames only.
                ("DecodingLimits.maximumTotalPixelCount", total),
                ("add its codec to the CodecRegistry", "this build of \(name) does not support it"),
                (
                    "no registered codec can encode it; add one to the CodecRegistry",
                    "this build of \(name) cannot encode it"
                ),
                (" Call SandboxWorker.runIfRequested first in main.", ""), ("; call SandboxWorker.runIfRequested", ""),
            ]
        }
    }

    /// Returns the message with the program's options in place of the library's properties, and without advice for
    /// developers.
    ///
    /// - Parameters:
    ///   - message: The message of an error.
    ///   - program: The program that prints it. Default: the tool.
    ///   - isLimit: Whether the error is that of an image that exceeds a limit. The text then says so when no option
    ///     raises the limit. Default: false.
    package static func text(_ message: String, in program: Program = .tool, isLimit: Bool = false) -> String {
        let text = program.replacements.reduce(message) { text, parts in text.replacing(parts.0, with: parts.1) }
        return isLimit && !text.contains("--max-") ? "\(text) (no option raises this limit)" : text
    }
}
