#if GTK
    import Alcedo

    /// What a frame meter has measured, in milliseconds.
    struct FrameReport: Codable {
        private static let limit = Duration.milliseconds(33)
        /// Of the limit, GTK's part and this program's.
        private static let half = limit / 2

        var frames: Int
        var longest: Double
        /// That half, and 99 of 100, do not exceed.
        var median: Double
        var percentile99: Double
        /// Frames over 33 ms, for whatever reason: on a busy machine another program may have the processor.
        var late: Int
        /// Frames that GTK has computed in its half of 33 ms, so that the other half was left.
        var inTimeByGTK: Int
        /// Of these, those over 33 ms.
        var lateBesideGTK: Int
        /// Frames of which this program's own work has taken more than its half of 33 ms, and more than GTK.
        var ownOverHalf: Int
        var longestOwnWork: Double
        var longestMainThread: Double
        var binds: Int
        var bindMedian: Double
        var bindPercentile99: Double
        var bindPercentile999: Double
        var longestBind: Double

        @MainActor init(_ frames: [FrameMeter.Frame], binds: DurationHistogram) {
            let lengths = frames.map(\.length).sorted()
            let inTimeByGTK = frames.filter { $0.mainThread - $0.own <= Self.half }
            self.frames = frames.count
            longest = Self.milliseconds(lengths.last)
            median = Self.milliseconds(lengths.isEmpty ? nil : lengths[lengths.count / 2])
            percentile99 = Self.milliseconds(lengths.isEmpty ? nil : lengths[(lengths.count - 1) * 99 / 100])
            late = frames.count { $0.length > Self.limit }
            self.inTimeByGTK = inTimeByGTK.count
            lateBesideGTK = inTimeByGTK.count { $0.length > Self.limit }
            ownOverHalf = frames.count { $0.own > max(Self.half, $0.mainThread - $0.own) }
            longestOwnWork = Self.milliseconds(frames.map(\.own).max())
            longestMainThread = Self.milliseconds(frames.map(\.mainThread).max())
            self.binds = binds.count
            bindMedian = Self.milliseconds(binds.percentile(0.5))
            bindPercentile99 = Self.milliseconds(binds.percentile(0.99))
            bindPercentile999 = Self.milliseconds(binds.percentile(0.999))
            longestBind = Self.milliseconds(binds.longest)
        }

        private static func milliseconds(_ time: Duration?) -> Double { (time ?? .zero) / .milliseconds(1) }
    }
#endif
