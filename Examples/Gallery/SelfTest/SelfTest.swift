#if GTK
    import Alcedo
    import AlcedoGTK
    import AlcedoTesting
    import CGTK
    import Foundation

    /// Answers the questions of Scripts/test-gtk: a word a line on standard input, a line of JSON on standard output.
    @MainActor final class SelfTest {
        private let window: GalleryWindow
        private let stack: GalleryStack
        private let reader: CellReader
        private let meter: FrameMeter
        private let watch: CellWatch

        init(window: GalleryWindow, stack: GalleryStack) {
            self.window = window
            self.stack = stack
            let grid = window.grid
            reader = CellReader(window: window.window, grid: grid)
            meter = FrameMeter(widget: window.window) { MainActorBridge.busyTime + grid.busyTime }
            watch = CellWatch(widget: window.window, reader: reader)
        }

        /// Takes commands until standard input ends.
        func listen() {
            Thread.detachNewThread {
                while let line = readLine() {
                    Task { @MainActor in self.answer(line) }
                }
            }
        }

        private func answer(_ line: String) {
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            switch words.first {
            case "cells": reply(reader.read())
            case "position": reply(["last": window.grid.positionsInSight.upperBound - 1])
            case "watch":
                watch.start()
                reply(["watch": 1])
            case "unwatch":
                watch.stop()
                reply(watch.report)
            case "meter":
                window.grid.bindTimes.reset()
                meter.start()
                reply(["meter": 1])
            case "measured":
                meter.stop()
                reply(FrameReport(meter.frames, binds: window.grid.bindTimes.binds))
            case "memory":
                reply(["resident": ResidentMemory.byteCount, "peak": ResidentMemory.peakByteCount])
            case "counts":
                var counts = window.grid.tally.counts.reduce(into: [:]) { $0[$1.key.rawValue] = $1.value }
                counts["failed"] = window.grid.tally.failures
                counts["cells"] = window.grid.cellCount
                counts["mapped"] = window.grid.boundCells.count {
                    gtk_widget_get_mapped(Widget($0.cell.picture.widget)) != 0
                }
                reply(counts)
            case "search": window.show(words.count > 1 ? words[1] : "")
            case let word: reply(["unknown": word ?? ""])
            }
        }

        private func reply(_ value: some Encodable) {
            guard let data = try? JSONEncoder().encode(value) else { return }
            FileHandle.standardOutput.write(data + Data("\n".utf8))
        }
    }
#endif
