#if GTK
    import CGTK

    /// Calls a closure for each frame of a widget, while that is in a window.
    @MainActor package final class FrameTicker {
        private let widget: UnsafeMutablePointer<GtkWidget>
        private let onFrame: @MainActor (_ time: Duration) -> Bool
        private var tick: guint?

        /// - Parameters:
        ///   - widget: A `GtkWidget`. Not kept alive; must not end before this object is stopped, or ends with it.
        ///   - onFrame: Gets the frame clock's time before the frame is laid out and drawn. Returns whether there is to be
        ///     another one.
        package init(widget: OpaquePointer, onFrame: @escaping @MainActor (_ time: Duration) -> Bool) {
            self.widget = UnsafeMutablePointer(widget)
            self.onFrame = onFrame
        }

        /// Begins, unless it has begun already.
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
