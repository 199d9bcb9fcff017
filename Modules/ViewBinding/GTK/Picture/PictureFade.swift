#if GTK
    /// How far one picture has covered another.
    package struct PictureFade {
        package private(set) var isRunning = false
        /// Of the picture that comes, from 0 to 1.
        package private(set) var opacity = 1.0
        private var length = Duration.zero
        private var start: Duration?

        package init() {}

        /// Begins with the next frame, whenever that is drawn.
        package mutating func start(lasting length: Duration) {
            self.length = length
            (isRunning, opacity, start) = (true, 0, nil)
        }

        /// - Parameter time: Of the frame that will be drawn.
        package mutating func advance(to time: Duration) {
            guard isRunning else { return }
            let first = start ?? time
            start = first
            let part = length > .zero ? (time - first) / length : 1
            // Slow at the end, where an even course looks as if it stopped short.
            opacity = 1 - (1 - min(max(part, 0), 1)) * (1 - min(max(part, 0), 1))
            if part >= 1 { end() }
        }

        package mutating func end() { (isRunning, opacity) = (false, 1) }
    }
#endif
