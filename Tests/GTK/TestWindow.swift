#if GTK
    import AlcedoGTK
    import CGTK

    /// A window on the test's display, and the main loop that draws it.
    @MainActor final class TestWindow {
        /// Whether there is a display at all.
        static var isPossible: Bool { gtk_init_check() != 0 }

        let widget: UnsafeMutablePointer<GtkWidget>
        /// The number of frame clock ticks so far, whether or not anything was drawn.
        private(set) var frameCount = 0

        init(_ child: OpaquePointer, width: Int32 = 200, height: Int32 = 200) {
            widget = gtk_window_new()
            gtk_window_set_default_size(window, width, height)
            gtk_window_set_child(window, UnsafeMutablePointer(child))
            gtk_window_present(window)
            if let clock = gtk_widget_get_frame_clock(widget) {
                Signal(UnsafeMutableRawPointer(clock), "before-paint") { [weak self] in self?.frameCount += 1 }
            }
        }

        isolated deinit { gtk_window_destroy(window) }

        private var window: UnsafeMutablePointer<GtkWindow> {
            UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GtkWindow.self)
        }

        /// Runs GTK's main loop until the condition holds. The suite's time limit ends a condition that never holds.
        func run(until isReached: () -> Bool) {
            while !isReached() { g_main_context_iteration(nil, 1) }
        }

        /// Runs GTK's main loop for a time, to verify that something does not happen and so has no event.
        func run(for time: Duration) {
            let end = g_get_monotonic_time() + gint64(time / .microseconds(1))
            let source = g_timeout_add(10, { _ in 1 }, nil)
            run { g_get_monotonic_time() >= end }
            g_source_remove(source)
        }

        /// Runs GTK's main loop until the window has been drawn again after its layout.
        func drawFrame() {
            var isDrawn = false
            let clock = gtk_widget_get_frame_clock(widget)
            withUnsafeMutablePointer(to: &isDrawn) { flag in
                let callback: @convention(c) (OpaquePointer?, gpointer?) -> Void = { _, flag in
                    flag?.assumingMemoryBound(to: Bool.self).pointee = true
                }
                let handler = g_signal_connect_data(
                    UnsafeMutableRawPointer(clock), "after-paint", unsafeBitCast(callback, to: GCallback.self), flag,
                    nil, GConnectFlags(0))
                gtk_widget_queue_draw(widget)
                run { flag.pointee }
                g_signal_handler_disconnect(UnsafeMutableRawPointer(clock), handler)
            }
        }
    }
#endif
