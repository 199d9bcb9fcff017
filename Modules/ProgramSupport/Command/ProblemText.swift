/// Error messages of the library, as the programs print them.
package enum ProblemText {
    /// The parts of messages that are for developers, and the parts that replace them. Both programs have the options.
    private static let replacements = [
        ("DecodingLimits.maximumPixelCount", "--max-pixels"), ("DecodingLimits.maximumByteCount", "--max-decoded"),
        ("maximumDecodingByteCount", "--max-decoded"),
        ("ImageConverter.maximumEncodingByteCount", "--max-decoded"),
        // The programs set it to the same number.
        ("SandboxConfiguration.maximumOutputByteCount", "--max-decoded"),
        ("DecodingLimits.maximumFrameCount", "--max-frames"),
        ("DecodingLimits.maximumTotalPixelCount", "--max-total-pixels"),
        ("add its codec to the CodecRegistry", "this build of alcedo does not support it"),
        ("no registered codec can encode it; add one to the CodecRegistry", "this build of alcedo cannot encode it"),
        (" Call SandboxWorker.runIfRequested first in main.", ""), ("; call SandboxWorker.runIfRequested", ""),
    ]

    /// Returns the message with the programs' options in place of the library's properties, and without advice for
    /// developers.
    ///
    /// - Parameters:
    ///   - message: The message of an error.
    ///   - isLimit: Whether the error is that of an image that exceeds a limit. The text then says so when no option
    ///     raises the limit. Default: false.
    package static func text(_ message: String, isLimit: Bool = false) -> String {
        let text = replacements.reduce(message) { text, parts in text.replacing(parts.0, with: parts.1) }
        return isLimit && !text.contains("--max-") ? "\(text) (no option raises this limit)" : text
    }
}
