#if GTK
    import Alcedo
    import AlcedoGTK

    /// How long the main thread computes for binding a cell, and for all together.
    @MainActor final class BindTimes {
        private(set) var binds = DurationHistogram()
        /// Of binds and unbinds.
        private(set) var total = Duration.zero

        func reset() { binds = DurationHistogram() }

        func measure(_ bind: () -> Void) {
            let start = ThreadTime.now
            bind()
            let time = ThreadTime.now - start
            binds.add(time)
            total += time
        }

        func measureUnbind(_ unbind: () -> Void) {
            let start = ThreadTime.now
            unbind()
            total += ThreadTime.now - start
        }
    }

    /// A cell whose binds are timed.
    @MainActor final class MeteredCell: RecycledCell {
        let cell: GridCell
        private let times: BindTimes

        init(_ cell: GridCell, times: BindTimes) {
            self.cell = cell
            self.times = times
        }

        var widget: OpaquePointer { cell.widget }

        func bind(to position: Int) { times.measure { cell.bind(to: position) } }

        func unbind() { times.measureUnbind { cell.unbind() } }
    }
#endif
