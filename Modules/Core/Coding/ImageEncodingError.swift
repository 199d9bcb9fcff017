/// Why an image could not be encoded.
public struct ImageEncodingError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What kind of failure it is.
    public enum Code: String, Sendable {
        /// The format cannot hold this image, or not in this pixel format.
        case unsupportedImage
        /// The codec library refused; the message says why.
        case failed
        /// The system refused the memory.
        case outOfMemory
    }

    /// What callers branch on.
    public var code: Code
    /// One sentence, from the codec library where it has one.
    public var message: String

    /// An error of an encoder's own.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}
