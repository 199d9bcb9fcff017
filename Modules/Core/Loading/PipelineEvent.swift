/// One step of a load.
public struct PipelineEvent: Sendable {
    public enum Stage: Sendable {
        case memoryHit
        case memoryMiss(CacheMissReason)
        /// The image as it was asked for, or the bytes that it is made of.
        case diskHit(bytes: Int)
        case diskMiss(CacheMissReason)
        /// A store's failure never fails a load; it is told here.
        case diskWriteFailed(any Error)
        /// From a server, or another source; what a response cache on the way did is nil when there is none.
        case downloaded(bytes: Int, ResponseCaching.Source?)
        case decoded(PixelSize)
        case processed(identifier: String)
        case finished(ImageResponse.Layer)
        case failed(any Error)
        case cancelled
    }

    public var key: ImageKey
    public var stage: Stage
    /// How long the step took; zero for a decision.
    public var duration: Duration

    public init(key: ImageKey, stage: Stage, duration: Duration = .zero) {
        self.key = key
        self.stage = stage
        self.duration = duration
    }
}
