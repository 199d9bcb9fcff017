#if GTK
    import CGTK
    import Foundation

    /// The status bar, which shows the number of images by layer, the failed loads, the loads in progress, the number
    /// of cells and the resident memory.
    @MainActor final class StatusBar {
        private static let failed = "failed"
        private static let loading = "loading"

        let widget: Widget
        private var labels: [String: Widget] = [:]
        private let memory = Widget.label()

        init() {
            var chips: [Widget] = []
            for counter in ImageLayer.allCases.map(\.rawValue) + [Self.failed, Self.loading] {
                let label = Widget.label()
                labels[counter] = label
                let dot = Widget.box(GTK_ORIENTATION_HORIZONTAL, classes: "dot", counter)
                gtk_widget_set_valign(dot, GTK_ALIGN_CENTER)
                chips.append(.box(GTK_ORIENTATION_HORIZONTAL, spacing: 6, [dot, label]))
            }
            let spacer = Widget.box(GTK_ORIENTATION_HORIZONTAL).expanding(along: false)
            widget = .box(GTK_ORIENTATION_HORIZONTAL, spacing: 20, chips + [spacer, memory], classes: "status")
        }

        func update(_ tally: LayerTally, loading: Int, cells: Int) {
            for layer in ImageLayer.allCases { set(layer.rawValue, layer.name, tally.counts[layer] ?? 0) }
            set(Self.failed, Self.failed, tally.failures)
            set(Self.loading, Self.loading, loading)
            memory.setText("\(cells) cells · \(Self.residentByteCount >> 20) MiB resident")
        }

        /// The resident memory of the process in bytes; zero if the system does not report it. Source: proc(5),
        /// `statm`.
        private static var residentByteCount: Int {
            let text = try? String(contentsOf: URL(filePath: "/proc/self/statm"), encoding: .utf8)
            let pages = text?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
            return (pages ?? 0) * sysconf(Int32(_SC_PAGESIZE))
        }

        private func set(_ counter: String, _ name: String, _ count: Int) {
            labels[counter]?.setText("\(name) \(count)")
        }
    }

    /// The number of images that cells have loaded from each layer, and the number of failed loads.
    @MainActor final class LayerTally {
        private(set) var counts: [ImageLayer: Int] = [:]
        private(set) var failures = 0

        func add(_ layer: ImageLayer) { counts[layer, default: 0] += 1 }

        func addFailure() { failures += 1 }
    }
#endif
