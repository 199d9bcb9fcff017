#if GTK
    /// How many pictures came from where into a cell.
    @MainActor final class LayerTally {
        private(set) var counts: [PictureLayer: Int] = [:]
        private(set) var failures = 0

        func add(_ layer: PictureLayer) { counts[layer, default: 0] += 1 }

        func addFailure() { failures += 1 }
    }
#endif
