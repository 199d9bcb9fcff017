/// Decides which waiting exchange begins next: those to one host in the order they came, and hosts in turn, within
/// a limit in total and one for each host.
///
/// libcurl has such limits too, but counts the waiting as silence of the server. All operations are O(1), apart from
/// the removal of one that waits.
struct CURLSchedule {
    /// A class, so that what changes with each exchange changes in place.
    private final class Host {
        var running = 0
        var waiting = ExchangeQueue()
        /// Whether the host is in `ready`. It stays known for so long, lest it be there twice.
        var isReady = false

        var isIdle: Bool { running == 0 && waiting.isEmpty && !isReady }
    }

    private let limit: Int
    private let hostLimit: Int
    private var running = 0
    private var hosts: [String: Host] = [:]
    /// Hosts with something that waits and room for it; each begins one before the next has its turn.
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

    /// The next exchange to begin; it counts as running from now on.
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

    /// To be told when an exchange that was given out has ended.
    mutating func ended(_ exchange: CURLExchange) {
        running -= 1
        let name = exchange.request.host
        guard let host = hosts[name] else { return }
        host.running -= 1
        makeReady(name, host)
        forget(name, host)
    }

    /// Removes an exchange that waits. O(waiting for the host).
    mutating func remove(_ exchange: CURLExchange) {
        let name = exchange.request.host
        guard let host = hosts[name] else { return }
        host.waiting.remove(exchange)
        forget(name, host)
    }

    /// Takes out everything that waits.
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

/// Exchanges in the order they came. Releases those that are taken out, which a slice of an array does not.
struct ExchangeQueue {
    private var elements: [CURLExchange?] = []
    private var head = 0

    var isEmpty: Bool { head == elements.count }

    mutating func append(_ exchange: CURLExchange) { elements.append(exchange) }

    /// O(1), amortised.
    mutating func popFirst() -> CURLExchange? {
        guard head < elements.count else { return nil }
        let first = elements[head]
        elements[head] = nil
        head += 1
        // The elements that were taken out are at most half of all.
        if head * 2 >= elements.count {
            elements.removeFirst(head)
            head = 0
        }
        return first
    }

    /// O(*n*).
    mutating func remove(_ exchange: CURLExchange) {
        elements = elements[head...].filter { $0 !== exchange }
        head = 0
    }

    mutating func removeAll() -> [CURLExchange] {
        defer { (elements, head) = ([], 0) }
        return elements[head...].compactMap(\.self)
    }
}
