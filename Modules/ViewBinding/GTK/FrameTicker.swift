#if GTK
    import CGTK

    /// A ticker that, once started, calls a closure for each frame of a widget while the widget is in a window, until
    /// the closure returns false or the ticker is stopped.
    @MainActor package final class FrameTicker {
        private let widget: WeakWidget
        private let onFrame: @MainActor (_ time: Duration) -> Bool
        private var tick: guint?

        /// Creates a ticker that is stopped.
        ///
        /// - Parameters:
        ///   - widget: A `GtkWidget`. The ticker does not retain it. After the widget is destroyed, the ticker does
        ///     nothing.
        ///   - onFrame: A closure that receives the frame clock's time before the frame is laid out and drawn. It
        ///     returns whether another frame is needed.
        package init(widget: OpaquePointer, onFrame: @escaping @MainActor (_ time: Duration) -> Bool) {
            self.widget = WeakWidget(widget)
            self.onFrame = onFrame
        }

        /// Starts the ticker. Does nothing if it is running or the widget was destroyed.
        package func start() {
            guard tick == nil, let widget = widget.pointer else { return }
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
            // A destroyed widget has removed the callback itself.
            if let widget = widget.pointer { gtk_widget_remove_tick_callback(widget, tick) }
        }

        private func run(_ time: Duration) -> Bool {
            let current = tick
            let continues = onFrame(time)
            // The closure may have stopped this tick and started another one.
            if !continues, tick == current { tick = nil }
            return continues
        }
    }

    /// A weak reference to a widget, which GTK clears when the widget is destroyed.
    @MainActor private final class WeakWidget {
        /// The memory that GTK clears. Its address must not change.
        private let location: UnsafeMutablePointer<gpointer?>

        init(_ widget: OpaquePointer) {
            location = .allocate(capacity: 1)
            location.initialize(to: UnsafeMutableRawPointer(widget))
            g_object_add_weak_pointer(Self.object(UnsafeMutableRawPointer(widget)), location)
        }

        isolated deinit {
            if let widget = location.pointee { g_object_remove_weak_pointer(Self.object(widget), location) }
            location.deallocate()
        }

        /// The widget; nil after it was destroyed.
        var pointer: UnsafeMutablePointer<GtkWidget>? { location.pointee?.assumingMemoryBound(to: GtkWidget.self) }

        private static func object(_ widget: UnsafeMutableRawPointer) -> UnsafeMutablePointer<GObject> {
            widget.assumingMemoryBound(to: GObject.self)
        }
    }
#endif
