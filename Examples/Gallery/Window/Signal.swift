#if GTK
    import CGTK

    /// The connection of GTK's signals to Swift closures.
    ///
    /// GTK is single-threaded and calls a connected closure on the main thread. The closure is released with the
    /// object.
    @MainActor enum Signal {
        private final class Box: Sendable {
            let run: @MainActor () -> Void

            init(_ run: @escaping @MainActor () -> Void) { self.run = run }
        }

        /// Connects a closure that ignores the arguments to a signal that returns no value.
        static func connect(
            _ object: UnsafeMutableRawPointer, _ name: String, _ handler: @escaping @MainActor () -> Void
        ) {
            let callback: @MainActor @convention(c) (gpointer?) -> Void = { box in
                if let box { Unmanaged<Box>.fromOpaque(box).takeUnretainedValue().run() }
            }
            // With `G_CONNECT_SWAPPED`, the box is the first argument, regardless of the number of signal arguments.
            g_signal_connect_data(
                object, name, unsafeBitCast(callback, to: GCallback.self),
                Unmanaged.passRetained(Box(handler)).toOpaque(),
                { box, _ in box.map { Unmanaged<Box>.fromOpaque($0).release() } }, G_CONNECT_SWAPPED)
        }
    }
#endif
