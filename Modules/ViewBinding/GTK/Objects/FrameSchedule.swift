#if GTK
    import CGTK

    /// Asks the frame clock of a widget for the frames in which something changes, and for no others: between them the
    /// program sleeps.
    @MainActor final class FrameSchedule {
        /// Sooner than this, the next frame is asked for at once: as long as a frame of most screens.
        private static let shortestPause = Duration.microseconds(16_667)

        private let widget: OpaquePointer
        private let onFrame: @MainActor (_ time: Duration) -> Duration?
        private lazy var ticker = FrameTicker(widget: widget) { [weak self] in self?.run($0) ?? false }
        private lazy var alarm = FrameAlarm { [weak self] in self?.ticker.start() }

        /// - Parameters:
        ///   - widget: As for a ``FrameTicker``.
        ///   - onFrame: Gets the time of a frame before it is laid out and drawn. Returns the time at which the next one
        ///     is due; nil: none is.
        init(widget: OpaquePointer, onFrame: @escaping @MainActor (_ time: Duration) -> Duration?) {
            self.widget = widget
            self.onFrame = onFrame
        }

        /// There is something to do in the next frame.
        func start() {
            alarm.cancel()
            ticker.start()
        }

        func stop() {
            alarm.cancel()
            ticker.stop()
        }

        private func run(_ time: Duration) -> Bool {
            guard let next = onFrame(time) else { return false }
            if next - time < Self.shortestPause { return true }
            alarm.set(to: next)
            return false
        }
    }
#endif
