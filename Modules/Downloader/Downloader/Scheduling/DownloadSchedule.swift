import AlcedoCore
import AlcedoRuntime

/// Decides which transfer begins next, within a limit in total, one for each host, and a rate. Decides only: it knows
/// neither threads nor clocks.
///
/// A transfer is added once, begins when ``next(at:)`` names it, and ends with ``end(_:)``; a slot belongs to one that
/// has begun, so one that is taken out before that gives none back. Between the two it may ``backOff(_:)``, without a slot,
/// and ``requeue(_:priority:)``, to be named again. All operations are O(log *n*), amortised.
struct DownloadSchedule: Sendable {
    enum Step: Equatable, Sendable {
        case begin(Int)
        /// Nothing may begin before so much time has passed.
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
    /// Those whose host had no slot when they were first in the queue.
    private var blocked: [String: WaiterQueue<String>] = [:]
    private var runningOfHost: [String: Int] = [:]
    private(set) var runningCount = 0
    /// While true nothing begins; what runs goes on.
    var isPaused = false

    init(limit: Int, hostLimit: Int, order: QueueOrder, rate: DownloadRate?) {
        self.limit = max(1, limit)
        self.hostLimit = max(1, hostLimit)
        self.order = order == .firstInFirstOut ? .firstComeFirst : .lastComeFirst
        ready = WaiterQueue(order: self.order)
        bucket = rate.map { TokenBucket($0) }
    }

    /// Those that back off included.
    var waitingCount: Int { transfers.count - runningCount }

    /// Complexity: O(*n*).
    var backingOffCount: Int { transfers.values.count { $0.state == .backingOff } }

    mutating func add(_ id: Int, host: String, priority: LoadPriority) {
        transfers[id] = Transfer(host: host, state: .ready)
        ready.add(id, host, priority: priority)
    }

    /// Changes the priority of one that waits.
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

    /// Names the transfer that begins now, and counts it as running from now on.
    ///
    /// - Parameter now: Never goes back.
    mutating func next(at now: Duration) -> Step {
        while !isPaused, runningCount < limit, let first = ready.popFirst() {
            let host = first.element
            guard runningOfHost[host] ?? 0 < hostLimit else {
                transfers[first.id]?.state = .blocked
                blocked[host, default: WaiterQueue(order: order)].put(back: first)
                continue
            }
            // Only what begins costs a token.
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

    /// Call this when a transfer has no waiters any more. One that runs keeps its slot until it has ended.
    mutating func abandon(_ id: Int) {
        if transfers[id]?.state != .running { end(id) }
    }

    /// Call this when a transfer has ended.
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

    /// Gives the slot of one that runs back, until it needs one again.
    mutating func backOff(_ id: Int) {
        guard let transfer = transfers[id], transfer.state == .running else { return }
        transfers[id]?.state = .backingOff
        releaseSlot(transfer.host)
        unblock(transfer.host)
    }

    /// Puts one that backs off back into the queue, behind those with the same priority.
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

    /// Lets the first of those that wait for a slot of the host back into the queue, when there is one.
    private mutating func unblock(_ host: String) {
        guard !blocked.isEmpty, runningOfHost[host] ?? 0 < hostLimit else { return }
        if let first = blocked[host]?.popFirst() {
            transfers[first.id]?.state = .ready
            ready.put(back: first)
        }
        if blocked[host]?.isEmpty == true { blocked[host] = nil }
    }
}

/// Lets so many pieces of work begin a second, and a number at once after a rest.
private struct TokenBucket: Sendable {
    private let rate: Double
    private let burst: Double
    private var tokens: Double
    /// When `tokens` was right.
    private var time: Duration?

    init(_ limit: DownloadRate) {
        rate = max(limit.perSecond, .leastNormalMagnitude)
        burst = Double(max(1, limit.burst))
        tokens = burst
    }

    /// Takes a token; returns how long to wait for the next when there is none.
    ///
    /// - Parameter now: Never goes back.
    mutating func take(at now: Duration) -> Duration? {
        if let time { tokens = min(burst, tokens + max(0, (now - time) / .seconds(1)) * rate) }
        time = now
        guard tokens < 1 else {
            tokens -= 1
            return nil
        }
        // A little more than needed, so that the next look finds one.
        return .seconds(min((1 - tokens) / rate, 3_600)) + .microseconds(100)
    }
}
