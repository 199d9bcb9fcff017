#if GTK
    import CGTK

    /// A signal handler that is a Swift closure.
    ///
    /// GTK is single-threaded and calls the closure on the main thread. The closure is released with the object or by
    /// ``disconnect()``.
    @MainActor package struct Signal {
        /// A closure that receives the signal's first argument, for signals whose first argument is a pointer.
        package typealias Handler = @MainActor (_ argument: UnsafeMutableRawPointer?) -> Void

        private final class Box: Sendable {
            let run: Handler

            init(_ run: @escaping Handler) { self.run = run }
        }

        private let object: UnsafeMutableRawPointer
        private let identifier: gulong

        /// Connects a closure without parameters to a signal that returns no value. The signal's arguments are dropped.
        @discardableResult
        package init(_ object: UnsafeMutableRawPointer, _ name: String, _ handler: @escaping @MainActor () -> Void) {
            let callback: @MainActor @convention(c) (gpointer?) -> Void = { Self.run($0, nil) }
            self.init(object, name, unsafeBitCast(callback, to: GCallback.self)) { _ in handler() }
        }

        /// Connects a closure to a signal that returns no value and whose first argument is a pointer.
        @discardableResult
        package init(_ object: UnsafeMutableRawPointer, _ name: String, withArgument handler: @escaping Handler) {
            let callback: @MainActor @convention(c) (gpointer?, gpointer?) -> Void = { Self.run($0, $1) }
            self.init(object, name, unsafeBitCast(callback, to: GCallback.self), handler)
        }

        private init(
            _ object: UnsafeMutableRawPointer, _ name: String, _ callback: @escaping GCallback,
            _ handler: @escaping Handler
        ) {
            self.object = object
            // With `G_CONNECT_SWAPPED`, the box is the first argument, regardless of the number of signal arguments.
            identifier = g_signal_connect_data(
                object, name, callback, Unmanaged.passRetained(Box(handler)).toOpaque(),
                { box, _ in box.map { Unmanaged<Box>.fromOpaque($0).release() } }, G_CONNECT_SWAPPED)
        }

        /// Disconnects the handler and releases its closure. The object must still exist.
        package func disconnect() { g_signal_handler_disconnect(object, identifier) }

        private static func run(_ box: gpointer?, _ argument: gpointer?) {
            if let box { Unmanaged<Box>.fromOpaque(box).takeUnretainedValue().run(argument) }
        }
    }
#endif
