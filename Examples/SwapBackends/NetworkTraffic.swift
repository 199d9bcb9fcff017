import Alcedo

/// What came from servers, and what a response cache on the way answered: told by the layer that each load ended at, since
/// files come by the downloader too.
struct NetworkTraffic: Sendable {
    /// Loads that a server answered.
    private(set) var requests = 0
    /// Loads that the response cache answered.
    private(set) var storedResponses = 0
    /// Of the bodies that servers sent.
    private(set) var byteCount = 0

    /// What the downloader brought, for loads that have not ended.
    private var brought: [ResourceKey: (bytes: Int, source: ResponseCaching.Source?)] = [:]

    mutating func take(_ event: PipelineEvent) {
        switch event.stage {
        case .downloaded(let bytes, let source): brought[event.key.resource] = (bytes, source)
        case .finished(let layer):
            guard let found = brought.removeValue(forKey: event.key.resource), layer == .network else { return }
            if let source = found.source, source != .new {
                storedResponses += 1
            } else {
                requests += 1
                byteCount += found.bytes
            }
        case .failed, .cancelled: brought[event.key.resource] = nil
        default: break
        }
    }
}
