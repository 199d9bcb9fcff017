#if GTK
    import Alcedo
    import AlcedoGTK
    import Foundation

    /// The processor time of the main thread for each bind of a cell, and for all binds and unbinds.
    @MainActor final class BindTimes {
        private(set) var binds: [Duration] = []
        /// The total time of binds and unbinds.
        private(set) var total = Duration.zero
        /// The number of cells.
        fileprivate(set) var cellCount = 0

        func reset() { binds = [] }

        func measure(_ bind: () -> Void) {
            let start = ThreadTime.now
            bind()
            let time = ThreadTime.now - start
            binds.append(time)
            total += time
        }

        func measureUnbind(_ unbind: () -> Void) {
            let start = ThreadTime.now
            unbind()
            total += ThreadTime.now - start
        }
    }

    /// A cell whose binds and unbinds are timed.
    @MainActor final class MeteredCell: RecycledCell {
        let cell: GridCell
        private let times: BindTimes

        init(_ cell: GridCell, times: BindTimes) {
            self.cell = cell
            self.times = times
            times.cellCount += 1
        }

        isolated deinit { times.cellCount -= 1 }

        var widget: OpaquePointer { cell.widget }

        func bind(to position: Int) { times.measure { cell.bind(to: position) } }

        func unbind() { times.measureUnbind { cell.unbind() } }
    }

    /// The processor time of the calling thread. Unlike the time of a clock, it does not advance while another program
    /// uses the processor.
    enum ThreadTime {
        static var now: Duration {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        }
    }
#endif
