import AlcedoCore
import FoundationEssentials

/// Lets one task at a time change what is stored for a URL, so that no change is made on an outdated reading.
final class WriteGate: Sendable {
    /// The URLs being changed, and who waits for each, in order.
    private let waiting = Locked<[URL: [CheckedContinuation<Void, Never>]]>([:])

    /// Runs `work` alone among the works for this URL. Waits even in a cancelled task; works are short.
    func alone(with url: URL, _ work: () async -> Void) async {
        await enter(url)
        await work()
        leave(url)
    }

    private func enter(_ url: URL) async {
        await withCheckedContinuation { continuation in
            let isFree = waiting.withLock { waiting in
                guard waiting[url] != nil else {
                    waiting[url] = []
                    return true
                }
                waiting[url]?.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    private func leave(_ url: URL) {
        let next = waiting.withLock { waiting -> CheckedContinuation<Void, Never>? in
            guard waiting[url]?.isEmpty == false else {
                waiting[url] = nil
                return nil
            }
            return waiting[url]?.removeFirst()
        }
        next?.resume()
    }
}
