#if GTK
    import AlcedoTesting
    import CGTK

    /// What came from where so far, and what is going on.
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
            let room = Widget.box(GTK_ORIENTATION_HORIZONTAL).expanding(along: false)
            widget = .box(GTK_ORIENTATION_HORIZONTAL, spacing: 20, chips + [room, memory], classes: "status")
        }

        func update(_ tally: LayerTally, loading: Int, cells: Int) {
            for layer in ImageLayer.allCases { set(layer.rawValue, layer.name, tally.counts[layer] ?? 0) }
            set(Self.failed, Self.failed, tally.failures)
            set(Self.loading, Self.loading, loading)
            memory.setText("\(cells) cells · \(ResidentMemory.byteCount >> 20) MiB resident")
        }

        private func set(_ counter: String, _ name: String, _ count: Int) {
            labels[counter]?.setText("\(name) \(count)")
        }
    }

    /// How many pictures came from where into a cell.
    @MainActor final class LayerTally {
        private(set) var counts: [ImageLayer: Int] = [:]
        private(set) var failures = 0

        func add(_ layer: ImageLayer) { counts[layer, default: 0] += 1 }

        func addFailure() { failures += 1 }
    }
#endif
