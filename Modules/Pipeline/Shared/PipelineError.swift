public import AlcedoCore

/// Why a load gave no image.
public struct PipelineError: Error, Sendable, CustomStringConvertible {
    /// Which stage failed.
    public enum Code: Sendable, Hashable {
        /// No cache has the image, and the request may not use the network.
        case notInCache
        /// The bytes could not be had; ``PipelineError/cause`` is the downloader's error.
        case download
        /// The bytes are not an image that can be shown; ``PipelineError/cause`` is an `ImageDecodingError`.
        case decoding(ImageDecodingError.Code)
        /// A processor failed; ``PipelineError/cause`` is its error.
        case processing
        /// What was to come to disk is not there. Fails no load; it is told to observers, and in reports of a prefetcher.
        case notStored
        /// The pipeline has been shut down.
        case shutDown
    }

    /// What callers branch on.
    public var code: Code
    /// One sentence, from the stage that failed.
    package var message: String
    /// The error of the stage that failed, where it has one.
    public var cause: (any Error)?

    /// An error; by default without a cause below it.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    public var description: String { message }

    static let shutDown = PipelineError(.shutDown, "the pipeline has been shut down")

    /// Whether other bytes may help.
    var meansDamage: Bool {
        guard case .decoding(let code) = code else { return false }
        return code.meansDamage
    }

    /// Whether a load of the same image from another URL, or with other fields, may succeed.
    static func isOfSource(_ error: any Error) -> Bool {
        guard let error = error as? PipelineError else { return false }
        return error.meansNoBytes || error.meansDamage
    }

    /// Whether the load failed before there was anything to decode.
    var meansNoBytes: Bool {
        switch code {
        case .notInCache, .download: true
        case .decoding, .processing, .notStored, .shutDown: false
        }
    }
}

extension ImageDecodingError.Code {
    /// Whether the bytes are no image for anybody, so that other bytes may help. What exceeds a request's limits, or is
    /// in a variant that nobody decodes, comes the same from everywhere.
    var meansDamage: Bool {
        switch self {
        case .empty, .unknownFormat, .truncated, .corrupt: true
        case .unsupportedVariant, .exceedsLimit, .outOfMemory: false
        }
    }
}
