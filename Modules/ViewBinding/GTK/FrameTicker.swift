#if GTK
    import CGTK

    /// A ticker that calls a closure for each frame of a widget while the widget is in a window.
    @MainActor package final class FrameTicker {
        private let widget: UnsafeMutablePointer<GtkWidget>
        private let onFrame: @MainActor (_ time: Duration) -> Bool
        private var tick: guint?

        /// Creates a ticker that is stopped.
        ///
        /// - Parameters:
        ///   - widget: A `GtkWidget`. The ticker does not retain it. The widget must exist until the ticker is stopped,
        ///     or until both are released.
        ///   - onFrame: A closure that receives the frame clock's time before the frame is laid out and drawn. It
        ///     returns whether another frame is needed.
        package init(widget: OpaquePointer, onFrame: @escaping @MainActor (_ time: Duration) -> Bool) {
            self.widget = UnsafeMutablePointer(widget)
            self.onFrame = onFrame
        }

        /// Starts the ticker, unless it is running.
        package func start() {
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

        /// Stops the ticker.
        package func stop() {
            guard let tick else { return }
            self.tick = nil
            gtk_widget_remove_tick_callback(widget, tick)
        }

        private func run(_ time: Duration) -> Bool {
            let continues = onFrame(time)
            if !continues { tick = nil }
            return continues
        }
    }
#endif
