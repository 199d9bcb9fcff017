import AlcedoCore

/// Which sizes of an image were put into memory: enough to find a larger one for a smaller wish.
///
/// Remembers the last few sizes of so many images; what it has forgotten is a miss, and what has left the cache is one, too.
final class SizeTable: Sendable {
    private struct Size: Sendable {
        var target: TargetSize
        var key: ImageKey
    }

    private static let imageLimit = 4_096
    private static let sizeLimit = 8

    private struct State: Sendable {
        var sizes: [ImageKey: [Size]] = [:]
        /// The images in the order they came, from ``next`` on, round and round.
        var ring: [ImageKey] = []
        var next = 0
    }

    private let state = Locked(State())

    /// Notes that an image is there at a size.
    func note(_ key: ImageKey, _ target: TargetSize, of full: ImageKey) {
        state.withLock { state in
            var sizes = state.sizes[full] ?? []
            if sizes.isEmpty { Self.makeRoom(for: full, in: &state) }
            sizes.removeAll { $0.key == key }
            sizes.append(Size(target: target, key: key))
            sizes.removeFirst(max(0, sizes.count - Self.sizeLimit))
            state.sizes[full] = sizes
        }
    }

    /// The sizes that are at least the one that is wanted, the smallest first.
    func keys(of full: ImageKey, atLeast wanted: TargetSize) -> [ImageKey] {
        let found = state.withLock { $0.sizes[full] } ?? []
        return found.filter { $0.target.mode == wanted.mode && $0.target.size.covers(wanted.size) }
            .sorted { $0.target.size.pixelCount < $1.target.size.pixelCount }
            .map(\.key)
    }

    private static func makeRoom(for full: ImageKey, in state: inout State) {
        guard state.ring.count == imageLimit else { return state.ring.append(full) }
        state.sizes[state.ring[state.next]] = nil
        state.ring[state.next] = full
        state.next = (state.next + 1) % imageLimit
    }
}

extension PixelSize {
    fileprivate func covers(_ other: PixelSize) -> Bool { width >= other.width && height >= other.height }
}
