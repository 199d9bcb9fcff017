public import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime

/// The error of a failed load.
///
/// ```swift
/// do {
///     show(try await pipeline.image(for: request))
/// } catch let error as PipelineError where error.httpStatus == 404 {
///     show(placeholder)
/// } catch let error as PipelineError where error.code == .download {
///     showRetryButton()
/// }
/// ```
public struct PipelineError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure, by stage.
    public enum Code: Sendable, Hashable {
        /// No cache has the image, and the request may not use the network.
        case notInCache
        /// The bytes could not be downloaded. ``PipelineError/cause`` is the error of the downloader or of the
        /// request's ``/AlcedoCore/ImageRequest/modifyRequest``, or the error of a closure that returns an image. It is
        /// nil for a provider closure that would wait for itself.
        case download
        /// The closure of a `provider` or an `imageProvider` canceled its own work: it threw `CancellationError` while
        /// the load was not canceled. A canceled load throws `CancellationError` itself.
        case providerCancelled
        /// The bytes could not be decoded. ``PipelineError/cause`` is an `ImageDecodingError`, or the error of an
        /// asynchronous decoder, whose code is then `decoderUnavailable`.
        case decoding(ImageDecodingError.Code)
        /// A processor failed. ``PipelineError/cause`` is its error.
        case processing
        /// Data could not be stored on disk, or an image is partial and cannot be stored. Never makes a load fail.
        /// Thrown by ``ImagePipeline/Cache/store(_:for:)``, passed to observers, and part of a prefetcher's report.
        case notStored
        /// The pipeline has been shut down.
        case shutDown
    }

    /// The kind of failure, for use in a `switch`.
    public var code: Code
    /// The message of the failed stage, in one sentence.
    package var message: String
    /// The error of the failed stage, or nil when there is none.
    public var cause: (any Error)?
    /// The status of the HTTP response that made the load fail, such as 404; nil when no response did, and when the
    /// downloader's errors are not ``/AlcedoCore/HTTPResponseError``.
    public var httpStatus: Int? {
        // The downloader may be one of the app, with errors of any type.
        (cause as? any HTTPResponseError)?.head?.status
    }

    /// The errors of the request's ``/AlcedoCore/ImageRequest/alternativeSources``, in their order; empty for a request
    /// without any.
    public internal(set) var alternativeErrors: [PipelineError] = []

    /// Whether the failure is only for requests with the modifier of the request that failed. Default: false.
    var isOfModifier = false
    /// The URL of the request; nil for a source that is not a URL, and for an error that no request caused.
    private var url: String?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: The message, in one sentence.
    ///   - cause: The underlying error. Default: nil.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// Creates the error of a failed download from its cause.
    init(download cause: any Error) {
        // The downloader may be one of the app, with errors of any type. The description of ours would name the URL,
        // which this error names itself.
        self.init(.download, (cause as? any CodedError)?.message ?? "\(cause)", cause: cause)
    }

    /// The message, with the URL of the request.
    public var description: String { message.naming(url) }

    /// Returns the error of a request for a source. The first source is kept.
    func naming(_ source: ImageSource) -> PipelineError {
        var named = self
        named.url = url ?? source.shownURL
        return named
    }

    /// Returns the error of a closure that provides bytes or an image.
    static func provider(_ identity: String, _ error: any Error) -> PipelineError {
        guard ProviderCancellation.isCause(of: error) else {
            return PipelineError(
                .download, "the provider \(identity.excerpt) failed: \("\(error)".excerpt)", cause: error)
        }
        return PipelineError(
            .providerCancelled, "the provider \(identity.excerpt) canceled its own work", cause: CancellationError())
    }

    static let shutDown = PipelineError(.shutDown, "the pipeline has been shut down")

    /// Whether decoding failed because the bytes are damaged, so that other bytes may decode.
    var meansDamage: Bool {
        guard case .decoding(let code) = code else { return false }
        return code.meansDamage
    }

    /// Whether no codec of the request recognizes the bytes. Other codecs may.
    var meansNoCodec: Bool { code == .decoding(.unknownFormat) }

    /// Returns whether a load of the same image from another URL, or with other header fields, may succeed.
    static func isOfSource(_ error: any Error) -> Bool {
        guard let error = error as? PipelineError else { return false }
        return error.meansNoBytes || error.meansDamage
    }

    /// Whether another source of the same request may succeed.
    var mayHaveAlternative: Bool { code != .shutDown && code != .notStored }

    /// Whether the load failed before there were bytes to decode.
    var meansNoBytes: Bool {
        switch code {
        case .notInCache, .download, .providerCancelled: true
        case .decoding, .processing, .notStored, .shutDown: false
        }
    }
}

extension ImageDecodingError.Code {
    /// Whether the bytes are damaged, so that other bytes may decode. An image that exceeds a request's limits, or uses
    /// an unsupported variant, is the same from every source. Without a decoder, nothing is known about the bytes.
    package var meansDamage: Bool {
        switch self {
        // Bytes that crash a decoder are damaged in most cases.
        case .empty, .unknownFormat, .truncated, .corrupt, .decoderFailed: true
        case .unsupportedVariant, .exceedsLimit, .timedOut, .outOfMemory, .decoderUnavailable: false
        }
    }
}
