import AlcedoCore

/// Which changes are under way, and how many there were. Decides only: never awaits, never calls out.
struct ChangeOrderState: Sendable {
    /// Returns when a change has ended.
    typealias End = @Sendable () async -> Void

    private struct Change: Sendable {
        var id: Int
        var end: End
    }

    /// Many enough that resources which share a counter are rare, and few enough to stay for good.
    private static let counterCount = 64

    private var lastID = 0
    /// The last change of each resource, while it is under way or waits.
    private var latest: [ResourceKey: Change] = [:]
    /// The last change of everything. Those in ``latest`` were asked for after it.
    private var latestOfAll: Change?
    private var counts = [Int](repeating: 0, count: counterCount)
    private var wholeCount = 0

    /// What a new change of `scope` has to wait for; all of it when it is a change of everything.
    func predecessors(of scope: ChangeScope) -> [End] {
        switch scope {
        case .resource(let resource):
            guard let change = latest[resource] ?? latestOfAll else { return [] }
            return [change.end]
        case .everything: return (latest.values + [latestOfAll].compactMap { $0 }).map(\.end)
        }
    }

    /// Notes that `scope` changes, so that no mark made before counts any more.
    mutating func noteChange(of scope: ChangeScope) {
        switch scope {
        case .resource(let resource): counts[Self.counter(of: resource)] += 1
        case .everything: wholeCount += 1
        }
    }

    mutating func makeID() -> Int {
        lastID += 1
        return lastID
    }

    mutating func begin(_ scope: ChangeScope, id: Int, end: @escaping End) {
        noteChange(of: scope)
        let change = Change(id: id, end: end)
        switch scope {
        case .resource(let resource): latest[resource] = change
        case .everything:
            latest = [:]
            latestOfAll = change
        }
    }

    mutating func finish(_ scope: ChangeScope, id: Int) {
        switch scope {
        case .resource(let resource): if latest[resource]?.id == id { latest[resource] = nil }
        case .everything: if latestOfAll?.id == id { latestOfAll = nil }
        }
    }

    /// nil while a change of the resource is under way.
    func mark(_ resource: ResourceKey) -> ChangeMark? {
        latestOfAll == nil && latest[resource] == nil ? moment(of: resource) : nil
    }

    /// Whether nothing changed since the mark: a mark is of a moment without changes, and each that begins is counted.
    func isUnchanged(_ resource: ResourceKey, since mark: ChangeMark) -> Bool { moment(of: resource) == mark }

    private func moment(of resource: ResourceKey) -> ChangeMark {
        ChangeMark(count: counts[Self.counter(of: resource)], wholeCount: wholeCount)
    }

    private static func counter(of resource: ResourceKey) -> Int {
        Int(truncatingIfNeeded: UInt(bitPattern: resource.hashValue) % UInt(counterCount))
    }
}
