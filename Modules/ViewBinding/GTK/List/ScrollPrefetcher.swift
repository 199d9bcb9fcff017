#if GTK
    public import AlcedoCore
    import CGTK

    /// A prefetcher for the images that a list shows next, in the direction of scrolling.
    ///
    /// The closures that load the images are injected, so that this module does not depend on a pipeline. The methods
    /// of `ImagePrefetcher` fit:
    ///
    /// ```swift
    /// guard let adjustment = OpaquePointer(gtk_scrolled_window_get_vadjustment(window)) else { return }
    /// let scrolling = ScrollPrefetcher(
    ///     adjustment: adjustment, ahead: 60, count: { urls.count }, request: { ImageRequest(url: urls[$0]) },
    ///     start: { prefetcher.start($0) }, stop: { prefetcher.stop($0) })
    /// ```
    ///
    /// The visible items are calculated from the adjustment, so rows must have about the same height. Each scroll step
    /// costs O(*ahead*).
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

        /// Creates a prefetcher for a list.
        ///
        /// - Parameters:
        ///   - adjustment: The `GtkAdjustment` of the direction in which the list scrolls.
        ///   - ahead: The number of items to load beyond the visible ones. Negative values are treated as zero.
        ///     Default: 60.
        ///   - count: A closure that returns the number of items in the list.
        ///   - request: A closure that returns the request of the cell at a position; nil to load nothing. It must use
        ///     the same size as the cell, or the prefetched image is not reused.
        ///   - start: A closure that starts loading the requests, in order.
        ///   - stop: A closure that cancels the loads of the requests. It receives each request whose item has become
        ///     visible or is no longer ahead, even if its load has ended, and the remaining requests when the
        ///     prefetcher is reset or released.
        ///   - onMove: A closure that receives the visible positions whenever the list moves or its layout changes,
        ///     before prefetching starts. For example, it can lower the priority of loads for cells that GTK binds
        ///     outside of the visible area. Default: nil.
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

        /// The visible positions, including partially visible rows; empty before the first layout.
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

        /// Cancels the started loads and starts prefetching again. Call this method after the items of the list or the
        /// size of the requests have changed.
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

    /// The items to load before they become visible: those that follow the visible items in the direction of the last
    /// scroll. A pure state machine without side effects.
    package struct PrefetchWindow {
        /// The positions to start and to stop loading. Positions to start are ordered by distance, nearest first.
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

        /// The number of items to load ahead.
        private let length: Int
        private var direction = Direction.forwards
        private var visible: Range<Int>?
        private var window = 0..<0

        package init(length: Int) { self.length = max(0, length) }

        /// Handles a change of the visible items, out of `count` items. Returns the loads to start and to stop.
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

        /// Handles a change of the list's items. Returns the positions that were being loaded.
        package mutating func reset() -> [Int] {
            defer { (window, visible, direction) = (0..<0, nil, .forwards) }
            return Array(window)
        }
    }
#endif
