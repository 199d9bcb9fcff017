#if GTK
    import Alcedo

    /// How many pictures came from where into a cell.
    @MainActor final class LayerTally {
        private(set) var counts: [ImageResponse.Layer: Int] = [:]
        private(set) var failures = 0

        func add(_ result: Result<ImageResponse, any Error>) {
            switch result {
            case .success(let response): counts[response.layer, default: 0] += 1
            case .failure: failures += 1
            }
        }
    }
#endif
