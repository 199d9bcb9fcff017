/// Why a binding has no image for a reason of its own; a load's errors are passed on as they are.
public struct ImageBindingError: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Code: String, Sendable {
        /// There was no request to load.
        case noRequest
    }

    public var code: Code
    public var message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}
