/// One step of a load.
public struct PipelineEvent: Sendable {
    public enum Stage: Sendable {
        case memoryHit
        case memoryMiss
        case diskHit(bytes: Int)
        case diskMiss
        /// A store's failure never fails a load; it is told here.
        case diskWriteFailed(any Error)
        case downloaded(bytes: Int)
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
