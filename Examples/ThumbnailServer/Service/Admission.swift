import Alcedo

/// Lets in as many different requests as there may be at once, and sends the others away. Equal ones share a place.
final class Admission: Sendable {
    /// The place of one request, which is given back at the latest when this is let go: the work it was for may never run.
    final class Place: Sendable {
        private let key: ImageKey
        private let admission: Admission
        private let isTaken = Locked(true)

        fileprivate init(_ key: ImageKey, _ admission: Admission) { (self.key, self.admission) = (key, admission) }

        deinit { leave() }

        func leave() {
            let isFirst = isTaken.withLock { isTaken in
                defer { isTaken = false }
                return isTaken
            }
            if isFirst { admission.leave(key) }
        }
    }

    private let limit: Int
    private let counts = Locked<[ImageKey: Int]>([:])

    init(limit: Int) { self.limit = limit }

    /// How many requests there are, equal ones included.
    var current: Int { counts.withLock { $0.values.reduce(0, +) } }

    /// The place of a request; nil when there is no room.
    func enter(_ key: ImageKey) -> Place? {
        let isIn = counts.withLock { counts in
            guard counts[key] != nil || counts.count < limit else { return false }
            counts[key, default: 0] += 1
            return true
        }
        return isIn ? Place(key, self) : nil
    }

    private func leave(_ key: ImageKey) {
        counts.withLock { counts in
            let count = counts[key, default: 0] - 1
            counts[key] = count > 0 ? count : nil
        }
    }
}
