#if GTK
    public import AlcedoCore
    import CGTK

    /// Has the images loaded that a list will show next, in the direction in which it is scrolled.
    ///
    /// What loads them is injected, so that this module knows no pipeline; an `ImagePrefetcher` fits:
    ///
    /// ```swift
    /// let scrolling = ScrollPrefetcher(
    ///     adjustment: gtk_scrolled_window_get_vadjustment(window), ahead: 60,
    ///     count: { names.count }, request: { request(for: names[$0]) },
    ///     start: prefetcher.start, stop: prefetcher.stop)
    /// ```
    ///
    /// Which items are in sight is worked out from the adjustment, so rows must be of about the same height. It costs
    /// O(items ahead) a scroll.
    @MainActor public final class ScrollPrefetcher {
        private let adjustment: OpaquePointer
        private let count: @MainActor () -> Int
        private let request: @MainActor (_ position: Int) -> ImageRequest?
        private let start: @MainActor ([ImageRequest]) -> Void
        private let stop: @MainActor ([ImageRequest]) -> Void
        private let onMove: (@MainActor (_ visible: Range<Int>) -> Void)?
        private var window: PrefetchWindow
        private var running: [Int: ImageRequest] = [:]
        private var signals: [Signal] = []

        /// - Parameters:
        ///   - adjustment: The `GtkAdjustment` of the direction in which the list scrolls.
        ///   - ahead: How many items beyond those in sight. Default: 60.
        ///   - count: How many items the list has.
        ///   - request: What the cell at a position will ask for: the same size, or nothing is gained. nil: nothing.
        ///   - start: Begins to load these, the first first.
        ///   - stop: Cancels these loads.
        ///   - onMove: Called with the visible positions whenever the list moves or gets another layout, before anything is
        ///     loaded for it: to lower the priority of loads for cells that GTK binds far off, say. Default: nil.
        public init(
            adjustment: OpaquePointer, ahead: Int = 60, count: @escaping @MainActor () -> Int,
            request: @escaping @MainActor (_ position: Int) -> ImageRequest?,
            start: @escaping @MainActor ([ImageRequest]) -> Void, stop: @escaping @MainActor ([ImageRequest]) -> Void,
            onMove: (@MainActor (_ visible: Range<Int>) -> Void)? = nil
        ) {
            self.adjustment = adjustment
            self.count = count
            self.request = request
            self.start = start
            self.stop = stop
            self.onMove = onMove
            window = PrefetchWindow(length: ahead)
            let object = UnsafeMutableRawPointer(adjustment)
            g_object_ref(object)
            signals = ["value-changed", "changed"].map { name in
                Signal(object, name) { [weak self] in self?.update() }
            }
        }

        isolated deinit {
            for signal in signals { signal.disconnect() }
            stop(Array(running.values))
            g_object_unref(UnsafeMutableRawPointer(adjustment))
        }

        /// The positions that are in sight now, rows that are so in part included; none while there is no layout.
        package var visiblePositions: Range<Int> {
            let adjustment = UnsafeMutablePointer<GtkAdjustment>(adjustment)
            let (lower, upper) = (gtk_adjustment_get_lower(adjustment), gtk_adjustment_get_upper(adjustment))
            let (value, page) = (gtk_adjustment_get_value(adjustment), gtk_adjustment_get_page_size(adjustment))
            guard upper > lower, page > 0 else { return 0..<0 }
            let perPoint = Double(count()) / (upper - lower)
            let first = Int(((value - lower) * perPoint).rounded(.down))
            let end = Int(((value - lower + page) * perPoint).rounded(.up))
            return max(0, first)..<max(0, first, end)
        }

        /// The list has other items, or requests of another size: what was begun is given up, and begun anew.
        public func reset() {
            cancel(window.reset())
            update()
        }

        private func update() {
            let start = ThreadTime.now
            move()
            MainActorBridge.busyTime += ThreadTime.now - start
        }

        private func move() {
            let visible = visiblePositions
            onMove?(visible)
            let change = window.move(to: visible, of: count())
            cancel(change.stop)
            var requests: [ImageRequest] = []
            for position in change.start {
                guard let request = request(position) else { continue }
                running[position] = request
                requests.append(request)
            }
            if !requests.isEmpty { start(requests) }
        }

        private func cancel(_ positions: [Int]) {
            let requests = positions.compactMap { running.removeValue(forKey: $0) }
            if !requests.isEmpty { stop(requests) }
        }
    }

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
