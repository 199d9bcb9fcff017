import Alcedo
import ExampleSupport

/// Keeps which images' bytes came from the disk cache; and what went wrong beside the loads.
final class LayerObserver: PipelineObserving {
    let troubles = TroubleObserver()
    private let fromDisk = Locked<Set<ResourceKey>>([])

    func pipelineDidReport(_ event: PipelineEvent) {
        troubles.pipelineDidReport(event)
        if case .diskHit = event.stage { fromDisk.withLock { _ = $0.insert(event.key.resource) } }
    }

    /// Where the bytes of an image that has been loaded came from.
    func layer(of request: ImageRequest) -> ImageResponse.Layer {
        // It stays: the same image may be on the list again, and share what was read.
        if fromDisk.withLock({ $0.contains(request.originalKey.resource) }) { return .disk }
        if case .http = request.source { return .network }
        return .local
    }
}
