#if GTK
    import AlcedoGTK

    /// Looks at all cells in sight in many frames, for pictures that are not their own.
    @MainActor final class CellWatch {
        struct Report: Codable {
            /// Frames that were looked at.
            var frames = 0
            /// Cells with a picture, in all of these.
            var pictures = 0
            /// Those with another one than theirs.
            var wrong: [CellReading] = []
        }

        private static let period = 2

        private(set) var report = Report()
        private let reader: CellReader
        private var ticker: FrameTicker?
        private var frame = 0

        init(widget: Widget, reader: CellReader) {
            self.reader = reader
            ticker = FrameTicker(widget: widget.opaque) { [weak self] _ in
                self?.look()
                return self != nil
            }
        }

        func start() {
            report = Report()
            ticker?.start()
        }

        func stop() { ticker?.stop() }

        private func look() {
            frame += 1
            guard frame.isMultiple(of: Self.period) else { return }
            report.frames += 1
            for cell in reader.read() where cell.hasPicture {
                report.pictures += 1
                if cell.found != cell.expected { report.wrong.append(cell) }
            }
        }
    }
#endif
