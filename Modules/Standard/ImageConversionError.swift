public import AlcedoRuntime

/// An error that ended a conversion before its result, apart from those of decoding, processing and encoding.
public struct ImageConversionError: CodedError {
    /// The kind of failure.
    public enum Code: String, Sendable {
        /// The ``ImageConversionQueue`` has its maximum number of conversions. The same call can succeed later.
        case queueFull
        /// The conversion did not end within its timeout.
        case timedOut
        /// The encoded image has more bytes than the call permits.
        case inputTooLarge
        /// The file cannot be read.
        case unreadableFile
    }

    /// The kind of failure, for callers to switch on.
    public var code: Code
    /// A one-sentence description for logs.
    package var message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
