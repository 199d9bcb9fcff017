import Alcedo
import ExampleSupport

/// Keeps which images' bytes came from the disk cache, until somebody asks; and what went wrong beside the loads.
final class LayerObserver: PipelineObserving {
    let troubles = TroubleObserver()
    private let fromDisk = Locked<Set<ResourceKey>>([])

    func pipelineDidReport(_ event: PipelineEvent) {
        troubles.pipelineDidReport(event)
        if case .diskHit = event.stage { fromDisk.withLock { _ = $0.insert(event.key.resource) } }
    }

    /// Where the bytes of an image that has been loaded came from. To be asked once.
    func layer(of request: ImageRequest) -> ImageResponse.Layer {
        let isFromDisk = fromDisk.withLock { $0.remove(request.originalKey.resource) != nil }
        if isFromDisk { return .disk }
        if case .http = request.source { return .network }
        return .local
    }
}
