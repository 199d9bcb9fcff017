import Alcedo

/// Keeps what went wrong beside the loads themselves, each message once.
final class TroubleObserver: PipelineObserving {
    private let found = Locked<[String]>([])

    var messages: [String] { found.withLock { $0 } }

    func pipelineDidReport(_ event: PipelineEvent) {
        guard case .diskWriteFailed(let error) = event.stage else { return }
        let message = "\(error)"
        found.withLock { found in
            if !found.contains(message) { found.append(message) }
        }
    }
}
