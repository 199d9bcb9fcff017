public import AlcedoRuntime

/// An error that prevented encoded bytes from being decoded.
public struct ImageDecodingError: CodedError {
    /// The kind of failure.
    public enum Code: String, Sendable {
        /// The data is empty.
        case empty
        /// No codec of the registry recognizes the data.
        case unknownFormat
        /// The data ends too early. More bytes may complete the image.
        case truncated
        /// The data violates the format. Decoding it again fails again.
        case corrupt
        /// The format is known, but this variant of it is not supported.
        case unsupportedVariant
        /// The image exceeds ``DecodingLimits``, a limit of its codec, or a limit of size of the sandbox.
        case exceedsLimit
        /// The decoder exceeded a limit of time: its own, that of the sandbox, or that of a pipeline for asynchronous
        /// codecs.
        case timedOut
        /// The memory could not be allocated, or a worker process of the sandbox was killed for lack of memory.
        case outOfMemory
        /// The decoder itself failed: a worker process of the sandbox crashed or broke a rule of the sandbox.
        case decoderFailed
        /// No decoder could run: the sandbox has no worker process and cannot start one, or is shut down; or an
        /// asynchronous decoder failed, or a synchronous caller needs it; or the task of the decode was canceled.
        case decoderUnavailable
    }

    /// The kind of failure, for callers to switch on.
    public var code: Code
    /// A one-sentence description for logs, from the codec library when it provides one.
    package var message: String

    /// Creates an error. Decoders outside this package use this initializer too.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Returns the error of a decoder that ended because the work of its thread was canceled. The caller that knows
    /// of the cancellation throws `CancellationError` in its place.
    ///
    /// - Parameter format: The name of the format.
    package static func canceled(_ format: String) -> ImageDecodingError {
        ImageDecodingError(.decoderUnavailable, "\(format): decoding was canceled")
    }

    /// Returns the error for an image of this size whose memory could not be allocated.
    package static func noMemory(for size: PixelSize) -> ImageDecodingError {
        ImageDecodingError(.outOfMemory, "cannot allocate \(size) pixels: out of memory")
    }
}
