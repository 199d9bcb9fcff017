/// Why an image could not be encoded.
public struct ImageEncodingError: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Code: String, Sendable {
        /// The format cannot hold this image, or not in this pixel format.
        case unsupportedImage
        /// The codec library refused; the message says why.
        case failed
        /// The system refused the memory.
        case outOfMemory
    }

    public var code: Code
    public var message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}
