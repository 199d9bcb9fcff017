import AlcedoCore
import FoundationEssentials

/// Lets one task at a time change what is stored for a resource, so that no change is made on an outdated reading.
final class WriteGate: Sendable {
    /// The resources being changed, and who waits for each, in order.
    private let waiting = Locked<[ResourceKey: [CheckedContinuation<Void, Never>]]>([:])

    /// Runs `work` alone among the works for this resource. Waits even in a cancelled task; works are short.
    func alone(with resource: ResourceKey, _ work: () async -> Void) async {
        await enter(resource)
        await work()
        leave(resource)
    }

    private func enter(_ resource: ResourceKey) async {
        await withCheckedContinuation { continuation in
            let isFree = waiting.withLock { waiting in
                guard waiting[resource] != nil else {
                    waiting[resource] = []
                    return true
                }
                waiting[resource]?.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    private func leave(_ resource: ResourceKey) {
        let next = waiting.withLock { waiting -> CheckedContinuation<Void, Never>? in
            guard waiting[resource]?.isEmpty == false else {
                waiting[resource] = nil
                return nil
            }
            return waiting[resource]?.removeFirst()
        }
        next?.resume()
    }
}
