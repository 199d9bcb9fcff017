import AlcedoCore
import AlcedoRuntime

/// Which sizes of an image were put into memory: enough to find a larger one for a smaller wish.
///
/// Remembers the last few sizes of so many images; what it has forgotten is a miss, and what has left the cache is one, too.
final class SizeTable: Sendable {
    private struct Size: Sendable {
        var target: TargetSize
        var key: ImageKey
    }

    private static let sizeLimit = 8

    private let table = Locked(RecentTable<ImageKey, [Size]>(limit: 4_096))

    /// Notes that an image is there at a size.
    func note(_ key: ImageKey, _ target: TargetSize, of full: ImageKey) {
        table.withLock { table in
            var sizes = table[full] ?? []
            sizes.removeAll { $0.key == key }
            sizes.append(Size(target: target, key: key))
            sizes.removeFirst(max(0, sizes.count - Self.sizeLimit))
            table.set(sizes, for: full)
        }
    }

    /// The sizes that are at least the one that is wanted, the smallest first.
    func keys(of full: ImageKey, atLeast wanted: TargetSize) -> [ImageKey] {
        let found = table.withLock { $0[full] } ?? []
        return found.filter { $0.target.mode == wanted.mode && $0.target.size.covers(wanted.size) }
            .sorted { $0.target.size.pixelCount < $1.target.size.pixelCount }
            .map(\.key)
    }
}

extension PixelSize {
    fileprivate func covers(_ other: PixelSize) -> Bool { width >= other.width && height >= other.height }
}
