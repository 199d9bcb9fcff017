import Alcedo

/// Loads images as a person has named them, a few at a time, with a progress line while a terminal watches.
struct BatchLoad {
    let images: [ImageArgument]
    /// Most loads at once.
    let width: Int
    /// When it has come no more loads begin, and nothing more is handed over.
    let interruption: Interruption?
    /// Makes the request of an image, by its index, what is to be loaded.
    let change: (ImageRequest, _ index: Int) -> ImageRequest

    var isInterrupted: Bool { interruption?.hasCome ?? false }

    /// Hands over what became of each image, by its index, as loads end.
    func run(
        with pipeline: ImagePipeline, onResult: (_ index: Int, Result<ImageResponse, any Error>) async -> Void
    ) async {
        let line = ProgressLine(total: images.count, isVisible: Console.errorIsTerminal)
        var requests: [ImageRequest] = []
        var indices: [Int] = []
        for (index, image) in images.enumerated() {
            switch image.request {
            case .success(let request):
                requests.append(change(request, index))
                indices.append(index)
            case .failure(let error):
                await onResult(index, .failure(error))
                await line.finishedOne()
            }
        }
        do {
            try await pipeline.loadAll(requests, width: width) { [indices] number, progress in
                Task { await line.received(progress, for: indices[number]) }
            } onResult: { number, result in
                if isInterrupted { throw CancellationError() }
                await onResult(indices[number], result)
                await line.finishedOne()
            }
        } catch {
            // Only an interruption ends the loop, and whoever runs it sees that.
        }
        await line.end()
    }
}
