/// Why a binding has no image for a reason of its own; a load's errors are passed on as they are.
public struct ImageBindingError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What a program may tell apart.
    public enum Code: String, Sendable {
        /// There was no request to load.
        case noRequest
    }

    /// Which of the reasons it is.
    public var code: Code
    /// The reason in one sentence, for logs.
    public var message: String

    /// A reason, and its words.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}
