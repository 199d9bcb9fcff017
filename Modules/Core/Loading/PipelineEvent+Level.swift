extension PipelineEvent {
    /// The importance of an event in a log. The names are those of `Logger.Level` in swift-log.
    public enum Level: String, Sendable, Hashable, CaseIterable, Comparable {
        /// A step of a load, such as a lookup with the reason of its miss, a download or a decode.
        case debug
        /// The end of a load: an image from memory, another image, or a cancellation.
        case info
        /// A fact that may explain an unexpected image, such as an unusable color profile.
        case notice
        /// A failure that the load survives, such as a damaged entry or a failed write to disk.
        case warning
        /// The failure of a load.
        case error

        /// Whether the first level is less important.
        public static func < (a: Self, b: Self) -> Bool { a.order < b.order }

        private var order: Int {
            switch self {
            case .debug: 0
            case .info: 1
            case .notice: 2
            case .warning: 3
            case .error: 4
            }
        }
    }

    /// The importance of the event in a log.
    public var level: Level {
        switch stage {
        case .memoryMiss(.damaged), .diskMiss(.damaged), .diskWriteFailed, .alternative: .warning
        case .memoryMiss, .diskHit, .diskMiss, .downloaded, .decoded, .colorConverted, .processed: .debug
        case .memoryHit, .finished, .cancelled: .info
        case .colorProfileIgnored: .notice
        case .failed: .error
        }
    }
}
