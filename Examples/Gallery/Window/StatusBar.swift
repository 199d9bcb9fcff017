#if GTK
    import Alcedo
    import AlcedoTesting
    import CGTK

    /// What came from where so far, and what is going on.
    @MainActor final class StatusBar {
        private enum Counter: String, CaseIterable {
            case memory
            case disk
            case response
            case network
            case local
            case failed
            case loading
        }

        let widget: Widget
        private var labels: [Counter: Widget] = [:]
        private let memory = Widget.label()

        init() {
            var chips: [Widget] = []
            for counter in Counter.allCases {
                let label = Widget.label()
                labels[counter] = label
                let dot = Widget.box(GTK_ORIENTATION_HORIZONTAL, classes: "dot", counter.rawValue)
                gtk_widget_set_valign(dot, GTK_ALIGN_CENTER)
                chips.append(.box(GTK_ORIENTATION_HORIZONTAL, spacing: 6, [dot, label]))
            }
            let room = Widget.box(GTK_ORIENTATION_HORIZONTAL).expanding(along: false)
            widget = .box(GTK_ORIENTATION_HORIZONTAL, spacing: 20, chips + [room, memory], classes: "status")
        }

        func update(_ tally: LayerTally, _ metrics: PipelineMetrics.Snapshot, loading: Int, cells: Int) {
            set(.memory, tally.counts[.memory] ?? 0)
            set(.disk, tally.counts[.disk] ?? 0)
            set(.response, metrics.responseCacheHits)
            set(.network, tally.counts[.network] ?? 0)
            set(.local, tally.counts[.local] ?? 0)
            set(.failed, tally.failures)
            set(.loading, loading)
            memory.setText("\(cells) cells · \(ResidentMemory.byteCount >> 20) MiB resident")
        }

        private func set(_ counter: Counter, _ count: Int) { labels[counter]?.setText("\(counter.rawValue) \(count)") }
    }
#endif
