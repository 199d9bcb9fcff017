public import AlcedoCore

/// Loads images into one view: at most one load at a time, and never shows a result that came too late.
///
/// Make one for each view and let the view, or its cell, own it; the binder holds the view weakly. Set a request with
/// ``bind(_:options:completion:)`` whenever the view is to show something else, and call ``cancel()`` when it leaves
/// the screen. The load is cancelled too when the binder goes, or when it learns that the view has gone.
@MainActor public final class ImageBinder {
    /// Told how a load ended.
    public typealias Completion = @MainActor (Result<ImageResponse, any Error>) -> Void

    private struct Load {
        var receipt: Receipt
        var request: ImageRequest
        var options: BindingOptions
        var completions: [Completion]
        var task: Task<Void, Never>?

        @MainActor func report(_ result: Result<ImageResponse, any Error>) { completions.forEach { $0(result) } }
    }

    private let loader: any ImageLoading
    private weak var view: (any ImageDisplaying)?
    private var state = BindingState()
    /// The load of the state's active receipt; nil when there is none.
    private var load: Load?

    /// - Parameter view: Held weakly.
    public init(view: any ImageDisplaying, loader: any ImageLoading) {
        self.view = view
        self.loader = loader
    }

    isolated deinit { cancel() }

    /// Whether an image is on its way.
    public var isLoading: Bool { load != nil }

    /// The task of the running load. It ends after its outcome is shown, or dropped.
    package var task: Task<Void, Never>? { load?.task }

    /// Makes the view show the image of `request`.
    ///
    /// An image in memory is shown before the call returns, without a placeholder. Otherwise the view shows the
    /// placeholder, or nothing, until the image has come. The load of another request is cancelled. A request for what
    /// is being loaded already (the same key, source and cache policy) joins that load and changes nothing else: the
    /// first call's options stay.
    ///
    /// - Parameters:
    ///   - request: nil cancels the load and shows the placeholder, or nothing.
    ///   - completion: Called once, after the view shows the outcome; before this call returns when the image is in
    ///     memory. Gets the loader's error as it is; `CancellationError` when another request, ``cancel()`` or the end
    ///     of the binder or its view came first; ``ImageBindingError`` for a nil request.
    public func bind(
        _ request: ImageRequest?, options: BindingOptions = BindingOptions(), completion: Completion? = nil
    ) {
        guard view != nil else {
            cancel()
            completion?(.failure(CancellationError()))
            return
        }
        guard let request else {
            let abandoned = takeAbandoned()
            view?.display(options.placeholder.map { .placeholder($0) } ?? .nothing)
            abandoned?.report(.failure(CancellationError()))
            completion?(.failure(ImageBindingError(.noRequest, "There is no request to load an image for.")))
            return
        }
        switch state.bind(LoadIdentity(request), look: options.look) {
        case .join:
            if let completion { load?.completions.append(completion) }
        case .lookUp(let receipt, abandoned: _):
            let abandoned = load
            abandoned?.task?.cancel()
            load = Load(
                receipt: receipt, request: request, options: options, completions: completion.map { [$0] } ?? [])
            lookUp(receipt, request)
            // Last, because a completion may bind again.
            abandoned?.report(.failure(CancellationError()))
        }
    }

    /// Cancels the load in flight, if any. What the view shows stays.
    public func cancel() { takeAbandoned()?.report(.failure(CancellationError())) }

    private func takeAbandoned() -> Load? {
        guard state.cancel() != nil else { return nil }
        load?.task?.cancel()
        defer { load = nil }
        return load
    }

    private func lookUp(_ receipt: Receipt, _ request: ImageRequest) {
        let hit = loader.cachedImage(for: request).map { ImageResponse(image: $0, layer: .memory) }
        perform(state.lookedUp(receipt, hit: hit != nil), result: hit.map { .success($0) })
    }

    private func finish(_ receipt: Receipt, _ result: Result<ImageResponse, any Error>) {
        // A view that has gone wants no outcome, and no failure is reported on its behalf.
        guard view != nil else { return viewHasGone(receipt) }
        let outcome: BindingState.Outcome =
            switch result {
            case .success: .image
            case .failure(is CancellationError): .cancelled
            case .failure: .failure
            }
        perform(state.finish(receipt, outcome), result: result)
    }

    private func viewHasGone(_ receipt: Receipt) {
        if state.activeReceipt == receipt { cancel() }
    }

    /// - Parameter result: How the load ended; nil while it has not.
    private func perform(_ actions: [BindingState.Action], result: Result<ImageResponse, any Error>?) {
        guard let current = load, !actions.isEmpty else { return }
        // Taken out before anything is called that may bind again.
        if result != nil { load = nil }
        for action in actions {
            switch action {
            case .show(let slot): view?.display(current.options.content(slot, of: result))
            case .startLoad(let receipt): start(receipt)
            case .report: if let result { current.report(result) }
            }
        }
    }

    private func start(_ receipt: Receipt) {
        guard load?.receipt == receipt, let request = load?.request else { return }
        load?.task = Task { [weak self, weak view, loader] in
            let result: Result<ImageResponse, any Error>
            do {
                // A cell that is bound again within one turn of the main actor never reaches the loader.
                try Task.checkCancellation()
                let response = try await loader.load(request) { [weak self, weak view] _ in
                    guard view == nil else { return }
                    Task { @MainActor in self?.viewHasGone(receipt) }
                }
                result = .success(response)
            } catch {
                result = .failure(error)
            }
            self?.finish(receipt, result)
        }
    }
}
