#if GTK
    import Alcedo
    import AlcedoGTK
    import CGTK

    /// Times the frames of a window while it is on, and how much of each is this program's own work.
    @MainActor final class FrameMeter {
        struct Frame {
            /// From the frame clock's call for one frame to that for the next, as it really came: the clock's own times are
            /// rounded to the screen's.
            var length: Duration
            /// What the main thread has computed in it, GTK's part included.
            var mainThread: Duration
            /// What binding cells, loading ahead and the main actor's tasks have taken of it.
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

        /// Called for each frame, before it is laid out and drawn.
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
