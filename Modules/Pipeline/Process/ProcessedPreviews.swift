import AlcedoCore
import AlcedoRuntime

/// Lets previews go through a request's processors, one at a time; those that come meanwhile are left out.
final class ProcessedPreviews: Sendable {
    private let processors: [any ImageProcessing]
    private let threads: DecodingThreads
    private let show: @Sendable (ImagePreview) -> Void
    private let isBusy = Locked(false)

    init(
        _ processors: [any ImageProcessing], threads: DecodingThreads, show: @escaping @Sendable (ImagePreview) -> Void
    ) {
        self.processors = processors
        self.threads = threads
        self.show = show
    }

    /// Does not block.
    func take(_ preview: ImagePreview) {
        guard !processors.isEmpty else { return show(preview) }
        let isFree = isBusy.withLock { isBusy in
            defer { isBusy = true }
            return !isBusy
        }
        guard isFree else { return }
        Task(executorPreference: threads.taskExecutor) { [self] in
            // A processor that cannot do it will say so of the whole image.
            let processed = try? await threads.run(priority: PriorityHandle(.low)) { [processors] in
                var processed = preview
                for processor in processors {
                    processed.image = try processor.process(processed.image)
                    processed.image.fullSize = nil
                }
                return processed
            }
            isBusy.withLock { $0 = false }
            if let processed { show(processed) }
        }
    }
}
