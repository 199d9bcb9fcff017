import AlcedoCore

/// What the cache did, for the `Cache-Status` field. Source: RFC 9211 section 2.
struct CacheStatus {
    enum Outcome {
        case hit
        case forwarded(ForwardReason, status: Int)
        /// Neither: the request allowed no network, and the cache had nothing.
        case unsatisfiable
    }

    var outcome: Outcome
    /// The answer was stored, or will be when its body has arrived whole.
    var isStored = false

    /// One member of the field's list.
    var text: String {
        let stored = isStored ? "; stored" : ""
        return switch outcome {
        case .hit: "alcedo; hit"
        case .forwarded(let reason, let status): "alcedo; fwd=\(reason.rawValue); fwd-status=\(status)\(stored)"
        case .unsatisfiable: "alcedo; detail=only-if-cached"
        }
    }

    /// Adds the member after those of the caches on the way.
    func add(to fields: inout HTTPFields) { fields.append("Cache-Status", text) }
}
