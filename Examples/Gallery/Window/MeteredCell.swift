#if GTK
    import AlcedoGTK

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
