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

    /// Asks the frame clock of a widget for the frames in which something changes, and for no others: between them the
    /// program sleeps.
    @MainActor final class FrameSchedule {
        /// Sooner than this, the next frame is asked for at once: as long as a frame of most screens.
        private static let shortestPause = Duration.microseconds(16_667)

        private let widget: OpaquePointer
        private let onFrame: @MainActor (_ time: Duration) -> Duration?
        private lazy var ticker = FrameTicker(widget: widget) { [weak self] in self?.run($0) ?? false }
        private lazy var alarm = FrameAlarm { [weak self] in self?.ticker.start() }

        /// - Parameters:
        ///   - widget: As for a ``FrameTicker``.
        ///   - onFrame: Gets the time of a frame before it is laid out and drawn. Returns the time at which the next one
        ///     is due; nil: none is.
        init(widget: OpaquePointer, onFrame: @escaping @MainActor (_ time: Duration) -> Duration?) {
            self.widget = widget
            self.onFrame = onFrame
        }

        /// There is something to do in the next frame.
        func start() {
            alarm.cancel()
            ticker.start()
        }

        func stop() {
            alarm.cancel()
            ticker.stop()
        }

        private func run(_ time: Duration) -> Bool {
            guard let next = onFrame(time) else { return false }
            if next - time < Self.shortestPause { return true }
            alarm.set(to: next)
            return false
        }
    }

    /// Runs a closure at a time of the frame clock, without a frame until then.
    @MainActor private final class FrameAlarm {
        private let onTime: @MainActor () -> Void
        private var source: guint?

        init(onTime: @escaping @MainActor () -> Void) { self.onTime = onTime }

        /// - Parameter time: In place of the one before. One that has passed counts as now.
        func set(to time: Duration) {
            cancel()
            // Frame clocks tell GLib's monotonic time. Rounded up, so that what is due then has begun.
            let milliseconds = (time - .microseconds(g_get_monotonic_time())) / .milliseconds(1)
            source = g_timeout_add_full(
                G_PRIORITY_DEFAULT, guint(min(max(milliseconds.rounded(.up), 0), Double(guint.max))),
                { alarm in
                    guard let alarm else { return 0 }
                    MainActor.assumeIsolated { Unmanaged<FrameAlarm>.fromOpaque(alarm).takeUnretainedValue().run() }
                    return 0
                }, Unmanaged.passRetained(self).toOpaque(),
                { alarm in alarm.map { Unmanaged<FrameAlarm>.fromOpaque($0).release() } })
        }

        func cancel() {
            guard let source else { return }
            self.source = nil
            g_source_remove(source)
        }

        private func run() {
            source = nil
            onTime()
        }
    }
#endif
