/// Why a processor gave no image.
public struct ImageProcessingError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What kind of failure it is.
    public enum Code: String, Sendable {
        /// A parameter makes no sense for any image.
        case invalidParameter
        /// The processor does not work on this pixel format.
        case unsupportedFormat
        /// The result would be larger than a buffer can be.
        case tooLarge
    }

    /// What callers branch on.
    public var code: Code
    /// One sentence, for logs.
    public var message: String

    /// An error of a processor's own.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}
