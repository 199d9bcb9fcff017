#if GTK
    import Alcedo

    /// What a frame meter has measured, in milliseconds.
    struct FrameReport: Codable {
        private static let limit = Duration.milliseconds(33)

        var frames: Int
        var longest: Double
        /// That half, and 99 of 100, do not exceed.
        var median: Double
        var percentile99: Double
        /// Frames over 33 ms, for whatever reason: on a busy machine another program may have the processor.
        var late: Int
        /// Frames for which the main thread has computed for more than 33 ms, and would not have without this program's own
        /// work.
        var lateByOwnWork: Int
        var longestOwnWork: Double
        var longestMainThread: Double
        var binds: Int
        var bindMedian: Double
        var bindPercentile99: Double
        var longestBind: Double

        @MainActor init(_ frames: [FrameMeter.Frame], binds: DurationHistogram) {
            let lengths = frames.map(\.length).sorted()
            let late = frames.filter { $0.length > Self.limit }
            self.frames = frames.count
            longest = Self.milliseconds(lengths.last)
            median = Self.milliseconds(lengths.isEmpty ? nil : lengths[lengths.count / 2])
            percentile99 = Self.milliseconds(lengths.isEmpty ? nil : lengths[(lengths.count - 1) * 99 / 100])
            self.late = late.count
            lateByOwnWork = frames.count { $0.mainThread > Self.limit && $0.mainThread - $0.own <= Self.limit }
            longestOwnWork = Self.milliseconds(frames.map(\.own).max())
            longestMainThread = Self.milliseconds(frames.map(\.mainThread).max())
            self.binds = binds.count
            bindMedian = Self.milliseconds(binds.percentile(0.5))
            bindPercentile99 = Self.milliseconds(binds.percentile(0.99))
            longestBind = Self.milliseconds(binds.longest)
        }

        private static func milliseconds(_ time: Duration?) -> Double { (time ?? .zero) / .milliseconds(1) }
    }
#endif
