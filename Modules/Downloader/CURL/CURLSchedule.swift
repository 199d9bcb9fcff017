/// A scheduler that decides which waiting exchange begins next, within a total limit and a limit for each host.
/// Exchanges with one host begin in the order they were added, and hosts take turns.
///
/// libcurl's own limits are not used, because the time in libcurl's queue would count toward the timeouts. All
/// operations are O(1), amortized, except `remove` and `removeAllWaiting`.
struct CURLSchedule {
    /// The exchanges of one host. A class, so that its properties are changed in place.
    private final class Host {
        var running = 0
        var waiting = ExchangeQueue()
        /// Whether the host's name is in `ready`. Such a host stays in `hosts`, so that its name is not added to
        /// `ready` again.
        var isReady = false

        var isIdle: Bool { running == 0 && waiting.isEmpty && !isReady }
    }

    private let limit: Int
    private let hostLimit: Int
    private var running = 0
    private var hosts: [String: Host] = [:]
    /// The names of the hosts that may begin an exchange, in the order of their turns. A turn begins one exchange. A
    /// host whose waiting exchanges were removed stays here until its turn.
    private var ready: ArraySlice<String> = []

    init(limit: Int, hostLimit: Int) {
        self.limit = limit
        self.hostLimit = hostLimit
    }

    mutating func enqueue(_ exchange: CURLExchange) {
        let name = exchange.request.host
        let host = hosts[name] ?? Host()
        hosts[name] = host
        host.waiting.append(exchange)
        makeReady(name, host)
    }

    /// Returns the next exchange to begin and counts it as running. Returns nil if no exchange may begin.
    mutating func next() -> CURLExchange? {
        while running < limit, let name = ready.popFirst() {
            guard let host = hosts[name] else { continue }
            host.isReady = false
            guard let exchange = host.waiting.popFirst() else {
                forget(name, host)
                continue
            }
            host.running += 1
            running += 1
            makeReady(name, host)
            return exchange
        }
        return nil
    }

    /// Releases the slot of an exchange that has ended.
    mutating func ended(_ exchange: CURLExchange) {
        running -= 1
        let name = exchange.request.host
        guard let host = hosts[name] else { return }
        host.running -= 1
        makeReady(name, host)
        forget(name, host)
    }

    /// Removes a waiting exchange.
    ///
    /// - Complexity: O(*n*), where *n* is the number of exchanges that wait for the host.
    mutating func remove(_ exchange: CURLExchange) {
        let name = exchange.request.host
        guard let host = hosts[name] else { return }
        host.waiting.remove(exchange)
        forget(name, host)
    }

    /// Removes and returns all waiting exchanges.
    mutating func removeAllWaiting() -> [CURLExchange] {
        hosts.values.flatMap { $0.waiting.removeAll() }
    }

    private mutating func forget(_ name: String, _ host: Host) {
        if host.isIdle { hosts[name] = nil }
    }

    private mutating func makeReady(_ name: String, _ host: Host) {
        guard !host.isReady, !host.waiting.isEmpty, host.running < hostLimit else { return }
        host.isReady = true
        ready.append(name)
    }
}

/// A first-in, first-out queue of exchanges. Unlike a slice of an array, it releases the exchanges that are removed.
struct ExchangeQueue {
    private var elements: [CURLExchange?] = []
    private var head = 0

    var isEmpty: Bool { head == elements.count }

    mutating func append(_ exchange: CURLExchange) { elements.append(exchange) }

    /// Removes and returns the first exchange. Returns nil if the queue is empty.
    ///
    /// - Complexity: O(1), amortized.
    mutating func popFirst() -> CURLExchange? {
        guard head < elements.count else { return nil }
        let first = elements[head]
        elements[head] = nil
        head += 1
        // The array is compacted when at least half of its elements have been removed.
        if head * 2 >= elements.count {
            elements.removeFirst(head)
            head = 0
        }
        return first
    }

    /// Removes an exchange.
    ///
    /// - Complexity: O(*n*), where *n* is the number of exchanges in the queue.
    mutating func remove(_ exchange: CURLExchange) {
        elements = elements[head...].filter { $0 !== exchange }
        head = 0
    }

    mutating func removeAll() -> [CURLExchange] {
        defer { (elements, head) = ([], 0) }
        return elements[head...].compactMap(\.self)
    }
}
