#if GTK
    import CGTK

    /// Keys that mean the same wherever the focus is.
    @MainActor final class Keyboard {
        /// - Returns: Whether the key was taken.
        typealias Handler = @MainActor (_ key: guint) -> Bool

        private let handler: Handler

        /// - Parameter window: Owns the handler; it has to outlive its key presses only.
        init(on window: Widget, _ handler: @escaping Handler) {
            self.handler = handler
            guard let keys = gtk_event_controller_key_new() else { return }
            // Before the widget that has the focus, which would take `/` for text otherwise.
            gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE)
            let callback: @MainActor @convention(c) (OpaquePointer?, guint, guint, guint, gpointer?) -> gboolean = {
                guard let keyboard = $4 else { return 0 }
                return Unmanaged<Keyboard>.fromOpaque(keyboard).takeUnretainedValue().handler($1) ? 1 : 0
            }
            g_signal_connect_data(
                UnsafeMutableRawPointer(keys), "key-pressed", unsafeBitCast(callback, to: GCallback.self),
                Unmanaged.passRetained(self).toOpaque(),
                { keyboard, _ in keyboard.map { Unmanaged<Keyboard>.fromOpaque($0).release() } }, GConnectFlags(0))
            gtk_widget_add_controller(window, keys)
        }
    }
#endif
