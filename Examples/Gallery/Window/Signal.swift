#if GTK
    import CGTK

    /// A Swift closure as the handler of an object's signal. GTK, which has one thread, calls it on the main one, and
    /// releases it with the object.
    @MainActor enum Signal {
        private final class Box: Sendable {
            let run: @MainActor () -> Void

            init(_ run: @escaping @MainActor () -> Void) { self.run = run }
        }

        /// Connects to a signal whose arguments do not matter, and that wants no answer.
        static func connect(
            _ object: UnsafeMutableRawPointer, _ name: String, _ handler: @escaping @MainActor () -> Void
        ) {
            let callback: @MainActor @convention(c) (gpointer?) -> Void = { box in
                if let box { Unmanaged<Box>.fromOpaque(box).takeUnretainedValue().run() }
            }
            // Swapped, the box comes first, however many arguments the signal has after it.
            g_signal_connect_data(
                object, name, unsafeBitCast(callback, to: GCallback.self),
                Unmanaged.passRetained(Box(handler)).toOpaque(),
                { box, _ in box.map { Unmanaged<Box>.fromOpaque($0).release() } }, G_CONNECT_SWAPPED)
        }
    }
#endif
