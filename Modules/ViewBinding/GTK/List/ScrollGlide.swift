#if GTK
    import AlcedoLibc

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
            let wanted = rest * (1 - exp(-(passed / Self.timeConstant)))
            // At least a point, or the last one would take for ever.
            let way = rest > 0 ? min(rest, max(1, wanted.rounded())) : max(rest, min(-1, wanted.rounded()))
            rest -= way
            if !isMoving { last = nil }
            return way
        }
    }
#endif
