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

    /// How a list glides to where the wheel has sent it: fast at first, slower as it comes near. Decides only.
    package struct ScrollGlide {
        /// In which the way that is left becomes a third.
        private static let timeConstant = Duration.milliseconds(55)
        private static let longestFrame = Duration.milliseconds(50)

        /// The way that is left, in points; negative is up.
        package private(set) var rest = 0.0
        private var last: Duration?

        package init() {}

        package var isMoving: Bool { rest != 0 }

        /// Goes further; a turn to the other side ends what is left.
        package mutating func add(_ way: Double) {
            guard way.isFinite else { return }
            rest = (rest < 0) == (way < 0) ? rest + way : way
        }

        package mutating func stop() { (rest, last) = (0, nil) }

        /// How far to go for the frame at `time`: whole points, so that pictures stay sharp.
        package mutating func step(at time: Duration) -> Double {
            guard isMoving else { return 0 }
            let passed = min(max(time - (last ?? time - .milliseconds(16)), .zero), Self.longestFrame)
            last = time
            let distance = rest * (1 - exp(-(passed / Self.timeConstant)))
            // At least a point, or the last one would take for ever.
            let way = rest > 0 ? min(rest, max(1, distance.rounded())) : max(rest, min(-1, distance.rounded()))
            rest -= way
            if !isMoving { last = nil }
            return way
        }
    }
#endif
