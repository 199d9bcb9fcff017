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
        case downloaded(bytes: Int, ResponseCaching.Source?)
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
    public init(key: ImageKey, stage: Stage, duration: Duration = .zero) {
        self.key = key
        self.stage = stage
        self.duration = duration
    }
}
