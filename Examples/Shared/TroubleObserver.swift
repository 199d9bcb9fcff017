public import Alcedo

/// Keeps what went wrong beside the loads themselves, each message once.
public final class TroubleObserver: PipelineObserving {
    private let found = Locked<[String]>([])

    public init() {}

    public var messages: [String] { found.withLock { $0 } }

    public func pipelineDidReport(_ event: PipelineEvent) {
        guard case .diskWriteFailed(let error) = event.stage else { return }
        let message = "\(error)"
        found.withLock { found in
            if !found.contains(message) { found.append(message) }
        }
    }
}
