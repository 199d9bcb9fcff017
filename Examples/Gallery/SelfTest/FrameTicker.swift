#if GTK
    import CGTK
    import Foundation

    /// Calls a closure for each frame of a widget, while that is in a window.
    @MainActor final class FrameTicker {
        private let widget: UnsafeMutablePointer<GtkWidget>
        private let onFrame: @MainActor (_ time: Duration) -> Bool
        private var tick: guint?

        /// - Parameters:
        ///   - widget: A `GtkWidget`. Not kept alive; must not end before this object is stopped, or ends with it.
        ///   - onFrame: Gets the frame clock's time before the frame is laid out and drawn. Returns whether there is to be
        ///     another one.
        init(widget: OpaquePointer, onFrame: @escaping @MainActor (_ time: Duration) -> Bool) {
            self.widget = UnsafeMutablePointer(widget)
            self.onFrame = onFrame
        }

        /// Begins, unless it has begun already.
        func start() {
            guard tick == nil else { return }
            tick = gtk_widget_add_tick_callback(
                widget,
                { _, clock, ticker in
                    guard let clock, let ticker else { return 0 }
                    let time = Duration.microseconds(gdk_frame_clock_get_frame_time(clock))
                    return MainActor.assumeIsolated {
                        Unmanaged<FrameTicker>.fromOpaque(ticker).takeUnretainedValue().run(time)
                    } ? 1 : 0
                }, Unmanaged.passRetained(self).toOpaque(),
                { ticker in ticker.map { Unmanaged<FrameTicker>.fromOpaque($0).release() } })
        }

        func stop() {
            guard let tick else { return }
            self.tick = nil
            gtk_widget_remove_tick_callback(widget, tick)
        }

        private func run(_ time: Duration) -> Bool {
            let goesOn = onFrame(time)
            if !goesOn { tick = nil }
            return goesOn
        }
    }

    /// How long the calling thread has computed: unlike the time of a clock, it stands still while another program has the
    /// processor.
    enum ThreadTime {
        static var now: Duration {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        }
    }
#endif
