#if GTK
    import CGTK

    /// Runs a closure at a time of the frame clock, without a frame until then.
    @MainActor final class FrameAlarm {
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
