import AlcedoCore

/// Knows which entries are on their way from one store to another, and which of them were changed meanwhile.
final class Promotions: Sendable {
    private struct Promotion {
        var count = 0
        /// Changes since the first of those under way began.
        var changes = 0
    }

    private let underWay = Locked<[ImageKey: Promotion]>([:])

    /// Notes that an entry is about to be read. To be followed by ``end(_:since:)``.
    func begin(_ key: ImageKey) -> Int {
        underWay.withLock { underWay in
            underWay[key, default: Promotion()].count += 1
            return underWay[key]?.changes ?? 0
        }
    }

    /// Whether the entry was changed since.
    func isChanged(_ key: ImageKey, since changes: Int) -> Bool { underWay.withLock { $0[key]?.changes != changes } }

    /// Notes that the entry has arrived, or is not there. Returns whether it was changed meanwhile.
    func end(_ key: ImageKey, since changes: Int) -> Bool {
        underWay.withLock { underWay in
            let isChanged = underWay[key]?.changes != changes
            underWay[key]?.count -= 1
            if underWay[key]?.count == 0 { underWay[key] = nil }
            return isChanged
        }
    }

    /// To be called when a change has been made where entries come from, and before it is made where they go.
    func change(_ key: ImageKey) { underWay.withLock { $0[key]?.changes += 1 } }

    /// The same for many entries.
    func change(where isChanged: (ImageKey) -> Bool = { _ in true }) {
        underWay.withLock { underWay in
            for key in underWay.keys where isChanged(key) { underWay[key]?.changes += 1 }
        }
    }
}
