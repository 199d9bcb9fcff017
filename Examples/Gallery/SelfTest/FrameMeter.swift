#if GTK
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
        private var ticker: FrameTicker?
        private var last: (time: gint64, mainThread: Duration, own: Duration)?

        init(widget: Widget, ownTime: @escaping @MainActor () -> Duration) {
            self.ownTime = ownTime
            ticker = FrameTicker(widget: widget.opaque) { [weak self] _ in
                self?.add(g_get_monotonic_time())
                return self != nil
            }
        }

        /// From now on there is a frame whenever the screen is ready for one.
        func start() {
            frames = []
            last = nil
            ticker?.start()
        }

        func stop() { ticker?.stop() }

        private func add(_ time: gint64) {
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
#endif
