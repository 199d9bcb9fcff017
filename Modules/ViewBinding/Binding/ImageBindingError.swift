public import AlcedoRuntime

/// An error of an ``ImageBinder`` that has no request to load. Errors of a load are passed on unchanged.
public struct ImageBindingError: CodedError {
    /// The kind of an error.
    public enum Code: String, Sendable {
        /// The load was called without a request.
        case noRequest
    }

    /// The kind of the error, on which code can branch.
    public var code: Code
    /// The description of the error, in one sentence.
    package var message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
