public import AlcedoRuntime

/// Why encoded bytes did not become an image.
public struct ImageDecodingError: CodedError {
    /// What kind of failure it is.
    public enum Code: String, Sendable {
        /// There is not one byte.
        case empty
        /// No codec of the registry knows these bytes.
        case unknownFormat
        /// The bytes end early; the rest may help.
        case truncated
        /// The bytes contradict their format; trying again cannot help.
        case corrupt
        /// A known format in a variant that is not decoded here.
        case unsupportedVariant
        /// Larger than ``DecodingLimits`` allows.
        case exceedsLimit
        /// The system refused the memory.
        case outOfMemory
    }

    /// What callers branch on.
    public var code: Code
    /// One sentence, from the codec library where it has one.
    package var message: String

    /// An error of a decoder's own.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The error of a system without memory for an image of this size.
    package static func noMemory(for size: PixelSize) -> ImageDecodingError {
        ImageDecodingError(.outOfMemory, "there is no memory for \(size) pixels")
    }
}
