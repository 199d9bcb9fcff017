public import AlcedoHTTP

/// An observer of a pipeline's steps, for logs, metrics and tests.
///
/// ```swift
/// struct FailureLogger: PipelineObserving {
///     func pipelineDidReport(_ event: PipelineEvent) {
///         if case .failed(let error) = event.stage { print("\(event.key) failed: \(error)") }
///     }
/// }
/// ```
///
/// Methods are called on any thread and must return without blocking. The events of one load arrive in order.
public protocol PipelineObserving: Sendable {
    /// Receives one event for each step.
    func pipelineDidReport(_ event: PipelineEvent)
}

/// A step of a load.
public struct PipelineEvent: Sendable {
    /// The kind of step, with its result.
    public enum Stage: Sendable {
        /// The memory cache had the image.
        case memoryHit
        /// The memory cache did not supply the image.
        case memoryMiss(CacheMissReason)
        /// The disk cache had the processed image or the original bytes.
        case diskHit(bytes: Int)
        /// The disk cache did not supply the entry.
        case diskMiss(CacheMissReason)
        /// A store on disk failed. This never makes the load fail.
        case diskWriteFailed(any Error)
        /// A server or another source supplied the bytes. The response source is nil without a response cache.
        case downloaded(bytes: Int, ResponseSource?)
        /// The bytes were decoded to an image of this size.
        case decoded(PixelSize)
        /// The colors of the image were converted to a color space.
        case colorConverted(OutputColorSpace)
        /// The ICC profile of the image is unusable, and the image was treated as sRGB.
        case colorProfileIgnored(ColorConversionError)
        /// A processor changed the image.
        case processed(identifier: String)
        /// The load finished with an image from this layer.
        case finished(ImageResponse.Layer)
        /// The load failed.
        case failed(any Error)
        /// The load was cancelled.
        case cancelled
    }

    /// The key of the image or of its original bytes.
    public var key: ImageKey
    /// The step.
    public var stage: Stage
    /// The duration of a disk read, a download, a decode, a conversion or a processing step; zero for all other steps.
    public var duration: Duration

    /// Creates an event. By default, its duration is zero.
    package init(key: ImageKey, stage: Stage, duration: Duration = .zero) {
        self.key = key
        self.stage = stage
        self.duration = duration
    }
}

/// The reason why a cache did not supply an entry.
public enum CacheMissReason: String, Sendable, Hashable, CaseIterable {
    /// The cache has no entry under the key.
    case notStored
    /// The request does not allow reading the cache.
    case notAllowed
    /// The pipeline has no such cache.
    case noCache
    /// The stored entry is not a complete image.
    case damaged
}
