import AlcedoCore

/// What the cache did, as it says in its answers. Source: RFC 9211.
struct CacheStatus {
    enum Outcome {
        /// From the store; how many seconds it stays fresh, below nought when it is stale.
        case hit(timeToLive: Int)
        /// Forwarded, with the status that came back; nil when none did.
        case forwarded(ForwardReason, status: Int?)
        case unsatisfiable
    }

    var outcome: Outcome
    var isStored = false

    private var text: String {
        switch outcome {
        case .hit(let seconds): "alcedo; hit; ttl=\(seconds)"
        case .forwarded(let reason, let status):
            "alcedo; fwd=\(reason.rawValue)" + (status.map { "; fwd-status=\($0)" } ?? "")
                + (isStored ? "; stored" : "")
        case .unsatisfiable: "alcedo; detail=only-if-cached"
        }
    }

    /// Adds the member after those of the caches on the way.
    func add(to fields: inout HTTPFields) { fields.append("Cache-Status", text) }
}
