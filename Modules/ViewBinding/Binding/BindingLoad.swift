import AlcedoCore

/// One load of a binder, with all that its end needs.
struct BindingLoad {
    /// A request as it was set, which can be set again.
    struct Attempt {
        var request: ImageRequest
        var options: BindingOptions
    }

    let receipt: Receipt
    let attempt: Attempt
    /// The request at the view's size; nil while that is not known.
    var request: ImageRequest?
    let priority: LivePriority
    var completions: [ImageBinder.Completion]
    /// The image of the request that the view shows, or that was shown in its place.
    var shown: DecodedImage?
    var task: Task<Void, Never>?
    var lowResolutionTask: Task<Void, Never>?

    init(_ receipt: Receipt, _ attempt: Attempt, request: ImageRequest?, completion: ImageBinder.Completion?) {
        self.receipt = receipt
        self.attempt = attempt
        self.request = request
        priority = LivePriority(attempt.request.priority)
        completions = completion.map { [$0] } ?? []
    }

    var options: BindingOptions { attempt.options }

    func cancel() {
        task?.cancel()
        lowResolutionTask?.cancel()
    }

    @MainActor func report(_ result: Result<ImageResponse, any Error>) { completions.forEach { $0(result) } }
}
