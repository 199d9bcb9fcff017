public import AlcedoHTTP

/// Is told what a pipeline does, for logs, metrics and tests.
///
/// Calls come from any thread, in the order of the events of one load, and must return at once.
public protocol PipelineObserving: Sendable {
    /// Is called once for each step.
    func pipelineDidReport(_ event: PipelineEvent)
}

/// One step of a load.
public struct PipelineEvent: Sendable {
    /// What happened.
    public enum Stage: Sendable {
        /// The memory cache had the image.
        case memoryHit
        /// The memory cache gave nothing.
        case memoryMiss(CacheMissReason)
        /// The image as it was asked for, or the bytes that it is made of.
        case diskHit(bytes: Int)
        /// The disk cache gave nothing.
        case diskMiss(CacheMissReason)
        /// A store's failure never fails a load; it is told here.
        case diskWriteFailed(any Error)
        /// From a server, or another source; what a response cache on the way did is nil when there is none.
        case downloaded(bytes: Int, ResponseSource?)
        /// Bytes became an image of this size.
        case decoded(PixelSize)
        /// A processor has changed the image.
        case processed(identifier: String)
        /// The load has its image, from this layer.
        case finished(ImageResponse.Layer)
        /// The load has failed.
        case failed(any Error)
        /// The load was cancelled.
        case cancelled
    }

    /// Which image it is about.
    public var key: ImageKey
    /// What happened.
    public var stage: Stage
    /// How long the step took; zero for a decision.
    public var duration: Duration

    /// A step; by default one that took no time.
    package init(key: ImageKey, stage: Stage, duration: Duration = .zero) {
        self.key = key
        self.stage = stage
        self.duration = duration
    }
}

/// Why a cache gave nothing.
public enum CacheMissReason: String, Sendable, Hashable, CaseIterable {
    /// It was asked, and has nothing under the key.
    case notStored
    /// The request does not let it answer.
    case notAllowed
    /// The pipeline has no such cache.
    case noCache
    /// What it has is no whole image.
    case damaged
}
