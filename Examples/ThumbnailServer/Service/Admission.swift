import Alcedo

/// Lets in as many different requests as there may be at once, half of them at most for one host, and sends the others
/// away. Equal ones share a place.
final class Admission: Sendable {
    /// The place of one request, which is given back at the latest when this is let go: the work it was for may never run.
    final class Place: Sendable {
        private let key: ImageKey
        private let host: String
        private let admission: Admission
        private let isTaken = Locked(true)

        fileprivate init(_ key: ImageKey, of host: String, _ admission: Admission) {
            (self.key, self.host, self.admission) = (key, host, admission)
        }

        deinit { leave() }

        func leave() {
            let isFirst = isTaken.withLock { isTaken in
                defer { isTaken = false }
                return isTaken
            }
            if isFirst { admission.leave(key, of: host) }
        }
    }

    private struct Counts {
        /// Requests by what they ask for.
        var requests: [ImageKey: Int] = [:]
        /// Different requests by host.
        var hosts: [String: Int] = [:]
    }

    private let limit: Int
    private let counts = Locked(Counts())

    init(limit: Int) { self.limit = limit }

    /// How many requests there are, equal ones included.
    var current: Int { counts.withLock { $0.requests.values.reduce(0, +) } }

    /// The place of a request for what a host has; nil when there is no room.
    func enter(_ key: ImageKey, of host: String) -> Place? {
        let isIn = counts.withLock { counts in
            if counts.requests[key] == nil {
                let ofHost = counts.hosts[host, default: 0]
                guard counts.requests.count < limit, ofHost < (limit + 1) / 2 else { return false }
                counts.hosts[host] = ofHost + 1
            }
            counts.requests[key, default: 0] += 1
            return true
        }
        return isIn ? Place(key, of: host, self) : nil
    }

    private func leave(_ key: ImageKey, of host: String) {
        counts.withLock { counts in
            let count = counts.requests[key, default: 0] - 1
            counts.requests[key] = count > 0 ? count : nil
            guard count == 0 else { return }
            let ofHost = counts.hosts[host, default: 0] - 1
            counts.hosts[host] = ofHost > 0 ? ofHost : nil
        }
    }
}
