public import AlcedoRuntime

/// An error that prevented an image from being encoded.
public struct ImageEncodingError: CodedError {
    /// The kind of failure.
    public enum Code: String, Sendable {
        /// The format cannot store this image, or cannot store its pixel format.
        case unsupportedImage
        /// The codec library reported an error. The message contains the reason.
        case failed
        /// The memory could not be allocated.
        case outOfMemory
        /// The encoder, or the encoded bytes, need more memory than a limit allows.
        case exceedsLimit
        /// The file has more bytes than ``ImageEncoding/limitingFileSize(to:)`` allows, even at the lowest quality.
        case exceedsFileSize
    }

    /// The kind of failure, for callers to switch on.
    public var code: Code
    /// A one-sentence description for logs, from the codec library when it provides one.
    package var message: String

    /// Creates an error. Encoders outside this package use this initializer too.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension ImageEncodingError {
    /// Throws `failed` if the work of the thread is canceled. The caller that knows of the cancellation throws
    /// `CancellationError` in its place. Encoders call this function for each row.
    package static func checkCancellation(_ format: ImageFormat) throws(ImageEncodingError) {
        if BlockingExecutor.isWorkCanceled { throw Self(.failed, "\(format): encoding was canceled") }
    }

    /// Returns the error of encoded bytes that need more memory than a limit.
    package static func exceeds(_ byteCount: Int, _ format: ImageFormat) -> Self {
        Self(
            .exceedsLimit,
            "\(format): the encoded bytes need more memory than the limit of \(byteCount.byteCountText)")
    }
}
