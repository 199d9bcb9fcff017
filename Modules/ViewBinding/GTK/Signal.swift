#if GTK
    import CGTK

    /// Swift closures as handlers of an object's signals. GTK, which has one thread, calls them on the main one, and lets
    /// go of them with the object or with ``disconnect()``.
    @MainActor package struct Signal {
        /// Gets the signal's first argument, for signals whose first argument is a pointer.
        package typealias Handler = @MainActor (_ argument: UnsafeMutableRawPointer?) -> Void

        private final class Box: Sendable {
            let run: Handler

            init(_ run: @escaping Handler) { self.run = run }
        }

        private let object: UnsafeMutableRawPointer
        private let identifier: gulong

        /// Connects to a signal whose arguments do not matter, and that wants no answer.
        @discardableResult
        package init(_ object: UnsafeMutableRawPointer, _ name: String, _ handler: @escaping @MainActor () -> Void) {
            let callback: @MainActor @convention(c) (gpointer?) -> Void = { Self.run($0, nil) }
            self.init(object, name, unsafeBitCast(callback, to: GCallback.self)) { _ in handler() }
        }

        /// Connects to a signal whose first argument is a pointer.
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
            // Swapped, the box comes first, however many arguments the signal has after it.
            identifier = g_signal_connect_data(
                object, name, callback, Unmanaged.passRetained(Box(handler)).toOpaque(),
                { box, _ in box.map { Unmanaged<Box>.fromOpaque($0).release() } }, G_CONNECT_SWAPPED)
        }

        package func disconnect() { g_signal_handler_disconnect(object, identifier) }

        private static func run(_ box: gpointer?, _ argument: gpointer?) {
            if let box { Unmanaged<Box>.fromOpaque(box).takeUnretainedValue().run(argument) }
        }
    }
#endif
