#if GTK
    /// Which items of a list are worth loading before they are in sight: those that come next, in the direction in which
    /// the list was last scrolled. Decides only.
    package struct PrefetchWindow {
        /// What changes, nearest first.
        package struct Change: Equatable {
            package var start: [Int]
            package var stop: [Int]

            package init(start: [Int] = [], stop: [Int] = []) {
                self.start = start
                self.stop = stop
            }
        }

        private enum Direction {
            case forwards
            case backwards
        }

        /// How many items ahead.
        private let length: Int
        private var direction = Direction.forwards
        private var visible: Range<Int>?
        private var window = 0..<0

        package init(length: Int) { self.length = max(0, length) }

        /// The list shows other items, out of `count`.
        package mutating func move(to visible: Range<Int>, of count: Int) -> Change {
            let visible = visible.clamped(to: 0..<max(0, count))
            if let before = self.visible, before.lowerBound != visible.lowerBound {
                direction = visible.lowerBound > before.lowerBound ? .forwards : .backwards
            }
            self.visible = visible
            let old = window
            window =
                switch direction {
                case .forwards: visible.upperBound..<min(visible.upperBound + length, max(0, count))
                case .backwards: max(0, visible.lowerBound - length)..<visible.lowerBound
                }
            let start = window.filter { !old.contains($0) }
            return Change(
                start: direction == .forwards ? start : start.reversed(), stop: old.filter { !window.contains($0) })
        }

        /// The list has other items. Returns those that were being loaded.
        package mutating func reset() -> [Int] {
            defer { (window, visible, direction) = (0..<0, nil, .forwards) }
            return Array(window)
        }
    }
#endif
