#if GTK
    import Alcedo

    /// Remembers of each picture whether its last download was answered by the response cache, the network asked or not.
    final class ResponseSources: PipelineObserving {
        private let answered = Locked<Set<ResourceKey>>([])

        func pipelineDidReport(_ event: PipelineEvent) {
            guard case .downloaded(_, let source) = event.stage else { return }
            answered.withLock { answered in
                if let source, source != .new {
                    answered.insert(event.key.resource)
                } else {
                    answered.remove(event.key.resource)
                }
            }
        }

        /// Where the answer to a request came from.
        func layer(of response: ImageResponse, to request: ImageRequest) -> PictureLayer {
            switch response.layer {
            case .memory: .memory
            case .disk: .disk
            case .network: answered.withLock { $0.contains(request.key.resource) } ? .response : .network
            case .local: .local
            }
        }
    }
#endif
