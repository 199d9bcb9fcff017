#if GTK
    import Alcedo
    import AlcedoGTK
    import CGTK

    /// A meter for the durations of a window's frames, and for the share of this program's own work.
    @MainActor final class FrameMeter {
        struct Frame {
            /// The actual time between the frame clock's calls for this frame and the next. The clock's own times are
            /// rounded to the screen's refresh.
            var length: Duration
            /// The processor time of the main thread during the frame, including GTK's work.
            var mainThread: Duration
            /// The part of ``mainThread`` that was used for binding cells, prefetching and the main actor's tasks.
            var own: Duration
        }

        private(set) var frames: [Frame] = []
        private let ownTime: @MainActor () -> Duration
        private var last: (time: gint64, mainThread: Duration, own: Duration)?

        init(ownTime: @escaping @MainActor () -> Duration) { self.ownTime = ownTime }

        func start() {
            frames = []
            last = nil
        }

        /// Records a frame. Called for each frame before it is laid out and drawn.
        func frameBegins() {
            let time = g_get_monotonic_time()
            let now = (time: time, mainThread: ThreadTime.now, own: ownTime())
            if let last, time > last.time {
                frames.append(
                    Frame(
                        length: .microseconds(time - last.time), mainThread: now.mainThread - last.mainThread,
                        own: now.own - last.own))
            }
            last = now
        }
    }

    /// The results of a frame meter. Durations are in milliseconds.
    struct FrameReport: Codable {
        private static let limit = Duration.milliseconds(33)
        /// Half of the limit. GTK's work and this program's own work may each take this long.
        private static let half = limit / 2

        var frames: Int
        var longest: Double
        /// The median and the 99th percentile of the frame durations.
        var median: Double
        var percentile99: Double
        /// The number of frames that took over 33 ms for any reason, such as other programs on a busy machine.
        var late: Int
        /// The number of frames for which GTK needed at most half of 33 ms, so that the other half was left for this
        /// program.
        var inTimeByGTK: Int
        /// The number of frames among ``inTimeByGTK`` that took over 33 ms.
        var lateBesideGTK: Int
        /// The number of frames in which this program's own work took more than half of 33 ms and more than GTK's work.
        var ownOverHalf: Int
        var longestOwnWork: Double
        var longestMainThread: Double
        var binds: Int
        var bindMedian: Double
        var bindPercentile99: Double
        var bindPercentile999: Double
        var longestBind: Double

        @MainActor init(_ frames: [FrameMeter.Frame], binds: [Duration]) {
            let lengths = frames.map(\.length).sorted()
            let binds = binds.sorted()
            let inTimeByGTK = frames.filter { $0.mainThread - $0.own <= Self.half }
            self.frames = frames.count
            longest = Self.milliseconds(lengths.last)
            median = Self.milliseconds(lengths.isEmpty ? nil : lengths[lengths.count / 2])
            percentile99 = Self.milliseconds(Self.percentile(0.99, of: lengths))
            late = frames.count { $0.length > Self.limit }
            self.inTimeByGTK = inTimeByGTK.count
            lateBesideGTK = inTimeByGTK.count { $0.length > Self.limit }
            ownOverHalf = frames.count { $0.own > max(Self.half, $0.mainThread - $0.own) }
            longestOwnWork = Self.milliseconds(frames.map(\.own).max())
            longestMainThread = Self.milliseconds(frames.map(\.mainThread).max())
            self.binds = binds.count
            bindMedian = Self.milliseconds(Self.percentile(0.5, of: binds))
            bindPercentile99 = Self.milliseconds(Self.percentile(0.99, of: binds))
            bindPercentile999 = Self.milliseconds(Self.percentile(0.999, of: binds))
            longestBind = Self.milliseconds(binds.last)
        }

        private static func percentile(_ part: Double, of sorted: [Duration]) -> Duration? {
            sorted.isEmpty ? nil : sorted[Int(Double(sorted.count - 1) * part)]
        }

        private static func milliseconds(_ time: Duration?) -> Double { (time ?? .zero) / .milliseconds(1) }
    }
#endif
