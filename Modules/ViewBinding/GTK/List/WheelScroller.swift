#if GTK
    import AlcedoLibc
    import CGTK

    /// A scroller that moves a list smoothly after a turn of the mouse wheel, by one step per frame. It scrolls only
    /// vertically.
    ///
    /// ```swift
    /// WheelScroller(scrolledWindow: scrolledWindow)
    /// ```
    ///
    /// GTK itself jumps immediately at each wheel step. Before GTK 4.10, lists measure their rows only once per frame.
    /// Such a list fails with "ran out of items" and shows nothing if a fast wheel moves it twice between two layouts.
    /// Touchpads are left to GTK, which combines their events per frame.
    @MainActor public final class WheelScroller {
        private let scroller: OpaquePointer
        private var glide = ScrollGlide()
        private var ticker: FrameTicker?

        /// Creates a scroller and attaches it to a scrolled window.
        ///
        /// - Parameter scrolledWindow: A `GtkScrolledWindow`, which retains the scroller.
        @discardableResult
        public init(scrolledWindow: OpaquePointer) {
            scroller = scrolledWindow
            ticker = FrameTicker(widget: scrolledWindow) { [weak self] in self?.advance(to: $0) ?? false }
            guard let wheel = gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_VERTICAL) else { return }
            // The capture phase precedes the window's own controller, which would scroll as well.
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

        /// Handles a scroll event.
        ///
        /// - Returns: Whether the event came from a wheel.
        private func turn(by turns: Double, _ wheel: OpaquePointer) -> Bool {
            guard let event = gtk_event_controller_get_current_event(wheel),
                gdk_scroll_event_get_direction(event) != GDK_SCROLL_SMOOTH
            else { return false }
            // The distance that GTK scrolls for one wheel step.
            glide.add(turns * pow(gtk_adjustment_get_page_size(adjustment), 2.0 / 3))
            ticker?.start()
            return true
        }

        private var adjustment: UnsafeMutablePointer<GtkAdjustment>? { gtk_scrolled_window_get_vadjustment(scroller) }

        private func advance(to time: Duration) -> Bool {
            let before = gtk_adjustment_get_value(adjustment)
            gtk_adjustment_set_value(adjustment, before + glide.step(at: time))
            // The list is at its start or end.
            if gtk_adjustment_get_value(adjustment) == before { glide.stop() }
            return glide.isMoving
        }
    }

    /// The motion of a list toward the position set by the wheel, which slows down as it approaches. A pure state
    /// machine without side effects.
    package struct ScrollGlide {
        /// The time in which the remaining distance is divided by *e*.
        private static let timeConstant = Duration.milliseconds(55)
        private static let longestFrame = Duration.milliseconds(50)

        /// The remaining distance in points; negative values are upward.
        package private(set) var rest = 0.0
        private var last: Duration?

        package init() {}

        package var isMoving: Bool { rest != 0 }

        /// Extends the motion by a distance. A distance in the opposite direction replaces the remaining distance.
        package mutating func add(_ delta: Double) {
            guard delta.isFinite else { return }
            rest = (rest < 0) == (delta < 0) ? rest + delta : delta
        }

        package mutating func stop() { (rest, last) = (0, nil) }

        /// Moves by one frame, and returns the distance for the frame at `time`; zero if the motion has ended. The
        /// distance is in whole points, so that images stay sharp. Only the last distance can have a fraction.
        package mutating func step(at time: Duration) -> Double {
            guard isMoving else { return 0 }
            let passed = min(max(time - (last ?? time - .milliseconds(16)), .zero), Self.longestFrame)
            last = time
            let distance = rest * (1 - exp(-(passed / Self.timeConstant)))
            // At least one point, or the motion would never end.
            let delta = rest > 0 ? min(rest, max(1, distance.rounded())) : max(rest, min(-1, distance.rounded()))
            rest -= delta
            if !isMoving { last = nil }
            return delta
        }
    }
#endif
