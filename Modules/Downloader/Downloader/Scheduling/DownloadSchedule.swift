import AlcedoCore
import AlcedoRuntime

/// A scheduler that decides which transfer begins next, within a total limit, a limit for each host, and a rate. It
/// only decides: it uses neither threads nor clocks.
///
/// A transfer is added once, begins when ``next(at:)`` returns it, and ends with ``end(_:)``. Only a running transfer
/// occupies a slot, so the removal of a waiting transfer releases none. ``backOff(_:)`` releases the slot of a running
/// transfer, and ``requeue(_:priority:)`` makes the transfer wait for a slot again. All operations except
/// ``backingOffCount`` are O(log *n*), amortized.
struct DownloadSchedule: Sendable {
    enum Step: Equatable, Sendable {
        case begin(Int)
        /// No transfer may begin before this time has passed.
        case wait(Duration)
        case nothing
    }

    private enum State {
        case ready, blocked, running, backingOff
    }

    private struct Transfer {
        var host: String
        var state: State
    }

    private let limit: Int
    private let hostLimit: Int
    private let order: WaiterQueue<String>.Order
    private var bucket: TokenBucket?
    private var transfers: [Int: Transfer] = [:]
    private var ready: WaiterQueue<String>
    /// The transfers whose host had no free slot when they were first in the queue, by host.
    private var blocked: [String: WaiterQueue<String>] = [:]
    private var runningOfHost: [String: Int] = [:]
    private(set) var runningCount = 0
    /// Whether the schedule holds new transfers back. Running transfers continue.
    var isPaused = false

    init(limit: Int, hostLimit: Int, order: QueueOrder, rate: DownloadRate?) {
        self.limit = max(1, limit)
        self.hostLimit = max(1, hostLimit)
        self.order = order == .firstInFirstOut ? .firstComeFirst : .lastComeFirst
        ready = WaiterQueue(order: self.order)
        bucket = rate.map { TokenBucket($0) }
    }

    /// The number of transfers that do not run, including those that back off.
    var waitingCount: Int { transfers.count - runningCount }

    /// The number of transfers that back off.
    ///
    /// - Complexity: O(*n*).
    var backingOffCount: Int { transfers.values.count { $0.state == .backingOff } }

    /// Whether a transfer backs off, so that it has no slot.
    func isBackingOff(_ id: Int) -> Bool { transfers[id]?.state == .backingOff }

    /// Whether the schedule holds a transfer. It holds none that needs no slot.
    func contains(_ id: Int) -> Bool { transfers[id] != nil }

    mutating func add(_ id: Int, host: String, priority: LoadPriority) {
        transfers[id] = Transfer(host: host, state: .ready)
        ready.add(id, host, priority: priority)
    }

    /// Changes the priority of a waiting transfer. Has no effect on a transfer that runs or backs off.
    mutating func setPriority(_ priority: LoadPriority, of id: Int) {
        guard let transfer = transfers[id] else { return }
        switch transfer.state {
        case .ready: ready.move(id, to: priority)
        case .blocked:
            blocked[transfer.host]?.move(id, to: priority)
            unblock(transfer.host)
        case .running, .backingOff: break
        }
    }

    /// Returns the transfer that begins now, and counts it as running. Returns `wait` if the rate delays the first
    /// transfer, and `nothing` if no transfer may begin.
    ///
    /// - Parameter now: The uptime, which must not decrease between calls.
    mutating func next(at now: Duration) -> Step {
        while !isPaused, runningCount < limit, let first = ready.popFirst() {
            let host = first.element
            guard runningOfHost[host] ?? 0 < hostLimit else {
                transfers[first.id]?.state = .blocked
                blocked[host, default: WaiterQueue(order: order)].put(back: first)
                continue
            }
            // A token is taken only for a transfer that begins.
            if let delay = bucket?.take(at: now) {
                ready.put(back: first)
                return .wait(delay)
            }
            transfers[first.id] = Transfer(host: host, state: .running)
            runningOfHost[host] = (runningOfHost[host] ?? 0) + 1
            runningCount += 1
            return .begin(first.id)
        }
        return .nothing
    }

    /// Removes a transfer that has no waiters left, unless the transfer runs. A running transfer keeps its slot until
    /// ``end(_:)``.
    mutating func abandon(_ id: Int) {
        if transfers[id]?.state != .running { end(id) }
    }

    /// Removes a transfer, and releases its slot if it runs.
    mutating func end(_ id: Int) {
        guard let transfer = transfers.removeValue(forKey: id) else { return }
        switch transfer.state {
        case .ready: _ = ready.remove(id)
        case .blocked: _ = blocked[transfer.host]?.remove(id)
        case .running: releaseSlot(transfer.host)
        case .backingOff: break
        }
        unblock(transfer.host)
    }

    /// Releases the slot of a running transfer until it is requeued.
    mutating func backOff(_ id: Int) {
        guard let transfer = transfers[id], transfer.state == .running else { return }
        transfers[id]?.state = .backingOff
        releaseSlot(transfer.host)
        unblock(transfer.host)
    }

    /// Puts a transfer that backs off into the queue again, as if it were new.
    mutating func requeue(_ id: Int, priority: LoadPriority) {
        guard let transfer = transfers[id], transfer.state == .backingOff else { return }
        transfers[id]?.state = .ready
        ready.add(id, transfer.host, priority: priority)
    }

    private mutating func releaseSlot(_ host: String) {
        runningCount -= 1
        let left = (runningOfHost[host] ?? 1) - 1
        runningOfHost[host] = left == 0 ? nil : left
    }

    /// Moves the first blocked transfer of a host back into the queue if the host has a free slot.
    private mutating func unblock(_ host: String) {
        guard !blocked.isEmpty, runningOfHost[host] ?? 0 < hostLimit else { return }
        if let first = blocked[host]?.popFirst() {
            transfers[first.id]?.state = .ready
            ready.put(back: first)
        }
        if blocked[host]?.isEmpty == true { blocked[host] = nil }
    }
}

/// A token bucket that limits the rate of work and allows a burst after an idle period.
private struct TokenBucket: Sendable {
    private let rate: Double
    private let burst: Double
    private var tokens: Double
    /// The uptime at which `tokens` was computed.
    private var time: Duration?

    init(_ limit: DownloadRate) {
        rate = max(limit.perSecond, .leastNormalMagnitude)
        burst = Double(max(1, limit.burst))
        tokens = burst
    }

    /// Takes a token and returns nil. If there is no token, returns the time after which to try again, at most about an
    /// hour.
    ///
    /// - Parameter now: The uptime, which must not decrease between calls.
    mutating func take(at now: Duration) -> Duration? {
        if let time { tokens = min(burst, tokens + max(0, (now - time) / .seconds(1)) * rate) }
        time = now
        guard tokens < 1 else {
            tokens -= 1
            return nil
        }
        // Slightly longer than computed, so that the next call finds a token.
        return .seconds(min((1 - tokens) / rate, 3_600)) + .microseconds(100)
    }
}
