#if GTK
    import AlcedoLibc
    import CGTK

    /// Scrolls a list by the wheel: in a glide, and once a frame.
    ///
    /// GTK's own way is a leap for each turn, at once. Before 4.10 its lists measure only once a frame, and lose their
    /// place when a fast wheel moves them twice between two layouts: "ran out of items", and an empty window. Touchpads are
    /// left to GTK, which collects what they say for each frame.
    @MainActor public final class WheelScroller {
        private let scroller: OpaquePointer
        private var glide = ScrollGlide()
        private var ticker: FrameTicker?

        /// - Parameter scrolledWindow: A `GtkScrolledWindow`, which keeps this object.
        @discardableResult
        public init(scrolledWindow: OpaquePointer) {
            scroller = scrolledWindow
            ticker = FrameTicker(widget: scrolledWindow) { [weak self] in self?.advance(to: $0) ?? false }
            guard let wheel = gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_VERTICAL) else { return }
            // Before the window's own, which would scroll too.
            gtk_event_controller_set_propagation_phase(wheel, GTK_PHASE_CAPTURE)
            let callback: @MainActor @convention(c) (OpaquePointer?, gdouble, gdouble, gpointer?) -> gboolean = {
                guard let wheel = $0, let owner = $3 else { return 0 }
                return Unmanaged<WheelScroller>.fromOpaque(owner).takeUnretainedValue().turn(by: $2, wheel) ? 1 : 0
            }
            g_signal_connect_data(
                UnsafeMutableRawPointer(wheel), "scroll", unsafeBitCast(callback, to: GCallback.self),
                Unmanaged.passRetained(self).toOpaque(),
                { owner, _ in owner.map { Unmanaged<WheelScroller>.fromOpaque($0).release() } }, GConnectFlags(0))
            gtk_widget_add_controller(UnsafeMutablePointer(scrolledWindow), wheel)
        }

        /// - Returns: Whether it was a wheel.
        private func turn(by turns: Double, _ wheel: OpaquePointer) -> Bool {
            guard let event = gtk_event_controller_get_current_event(wheel),
                gdk_scroll_event_get_direction(event) != GDK_SCROLL_SMOOTH
            else { return false }
            // As far as GTK goes for one turn.
            glide.add(turns * pow(gtk_adjustment_get_page_size(adjustment), 2.0 / 3))
            ticker?.start()
            return true
        }

        private var adjustment: UnsafeMutablePointer<GtkAdjustment>? { gtk_scrolled_window_get_vadjustment(scroller) }

        private func advance(to time: Duration) -> Bool {
            let before = gtk_adjustment_get_value(adjustment)
            gtk_adjustment_set_value(adjustment, before + glide.step(at: time))
            // There is no way beyond the end.
            if gtk_adjustment_get_value(adjustment) == before { glide.stop() }
            return glide.isMoving
        }
    }
#endif
