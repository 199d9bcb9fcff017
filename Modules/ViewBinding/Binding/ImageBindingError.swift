public import AlcedoRuntime

/// The reason why an ``ImageBinder`` loads no image. Errors of a load are passed on as they are.
public struct ImageBindingError: CodedError {
    /// The kinds of errors.
    public enum Code: String, Sendable {
        /// There was no request to load.
        case noRequest
    }

    /// The reason, to branch on.
    public var code: Code
    /// The reason in one sentence.
    package var message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
