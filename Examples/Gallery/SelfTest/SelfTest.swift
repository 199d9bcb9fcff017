#if GTK
    import Alcedo
    import AlcedoGTK
    import CGTK
    import Foundation

    /// The test interface for Scripts/test-gtk. Reads one command per line from standard input and writes one line of
    /// JSON to standard output for each command other than `search`.
    @MainActor final class SelfTest {
        private let window: GalleryWindow
        private let stack: GalleryStack
        private let reader: CellReader
        private let meter: FrameMeter
        private let watch: CellWatch
        /// The closures that are called for each frame, by observer.
        private var observers: [ObjectIdentifier: @MainActor () -> Void] = [:]

        init(window: GalleryWindow, stack: GalleryStack) {
            self.window = window
            self.stack = stack
            let grid = window.grid
            reader = CellReader(window: window.window, grid: grid)
            meter = FrameMeter { MainActorBridge.busyTime + grid.bindTimes.total }
            watch = CellWatch(reader: reader)
        }

        /// Starts a thread that reads commands until standard input ends. The main actor runs them.
        func listen() {
            if let clock {
                Signal.connect(UnsafeMutableRawPointer(clock), "update") { [weak self] in
                    self?.observers.values.forEach { $0() }
                }
            }
            Thread.detachNewThread {
                while let line = readLine() {
                    Task { @MainActor in self.respond(to: line) }
                }
            }
        }

        /// The frame clock of the window, which exists because the window has been shown.
        private var clock: OpaquePointer? { gtk_widget_get_frame_clock(window.window) }

        /// Calls `observer` for each frame, and requests a frame whenever the screen is ready for one.
        private func observeFrames(for object: AnyObject, _ observer: @escaping @MainActor () -> Void) {
            if observers.updateValue(observer, forKey: ObjectIdentifier(object)) == nil {
                gdk_frame_clock_begin_updating(clock)
            }
        }

        private func stopObserving(for object: AnyObject) {
            if observers.removeValue(forKey: ObjectIdentifier(object)) != nil { gdk_frame_clock_end_updating(clock) }
        }

        private func respond(to line: String) {
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            switch words.first {
            case "cells": reply(reader.read())
            case "position": reply(["last": window.grid.visiblePositions.upperBound - 1])
            case "watch":
                watch.start()
                observeFrames(for: watch) { [watch] in watch.frameBegins() }
                reply(["watch": 1])
            case "unwatch":
                stopObserving(for: watch)
                reply(watch.report)
            case "meter":
                window.grid.bindTimes.reset()
                meter.start()
                observeFrames(for: meter) { [meter] in meter.frameBegins() }
                reply(["meter": 1])
            case "measured":
                stopObserving(for: meter)
                reply(FrameReport(meter.frames, binds: window.grid.bindTimes.binds))
            case "counts":
                var counts = window.grid.tally.counts.reduce(into: [:]) { $0[$1.key.rawValue] = $1.value }
                counts["failed"] = window.grid.tally.failures
                counts["cells"] = window.grid.cellCount
                counts["mapped"] = window.grid.boundCells.count {
                    gtk_widget_get_mapped(Widget($0.cell.imageView.widget)) != 0
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
