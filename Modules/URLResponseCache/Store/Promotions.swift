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

    /// Notes that the entry has arrived, or is not there. Returns whether it was changed meanwhile.
    func end(_ key: ImageKey, since changes: Int) -> Bool {
        underWay.withLock { underWay in
            let isChanged = underWay[key]?.changes != changes
            underWay[key]?.count -= 1
            if underWay[key]?.count == 0 { underWay[key] = nil }
            return isChanged
        }
    }

    /// To be called before a change is made.
    func change(_ key: ImageKey) { underWay.withLock { $0[key]?.changes += 1 } }

    /// To be called before many entries are changed.
    func change(where isChanged: (ImageKey) -> Bool = { _ in true }) {
        underWay.withLock { underWay in
            for key in underWay.keys where isChanged(key) { underWay[key]?.changes += 1 }
        }
    }
}
