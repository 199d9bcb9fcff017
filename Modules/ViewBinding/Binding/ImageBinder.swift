public import AlcedoCore
public import FoundationEssentials

/// An object that loads images into one view. It runs at most one main load at a time and never shows a late result of
/// an earlier request.
///
/// ```swift
/// let binder = ImageBinder(view: view, pipeline: pipeline)
/// binder.load(url)
/// ```
///
/// Create one binder for each view. The view, or its cell, owns the binder; the binder holds the view weakly. Load a
/// URL or a request whenever the view has to show another image, and call ``cancel()`` when the view leaves the screen.
/// The load is also canceled when the binder is released. If the view is released before the binder, a load in flight
/// is canceled at its next update or its end. A load that waits for the view's size then remains until ``cancel()``,
/// the next call of `load`, or the release of the binder.
@MainActor public final class ImageBinder {
    fileprivate typealias Completion = @MainActor (Result<ImageResponse, any Error>) -> Void

    /// An image of a load, or its failure.
    private enum LoadEvent {
        /// A preview, or the low-resolution image.
        case preview(DecodedImage)
        case image(ImageResponse)
        case failure(any Error)
    }

    private let pipeline: any ImageLoading
    private weak var view: (any ImageDisplaying)?
    private var state = BindingState()
    /// The load of the state's active receipt; nil if no load is active.
    private var activeLoad: BindingLoad?
    private var failed: BindingLoad.Attempt?
    private var isActive = false

    /// Creates a binder for a view.
    ///
    /// - Parameters:
    ///   - view: The view that shows the images. Held weakly.
    ///   - pipeline: The loader of the images.
    public init(view: any ImageDisplaying, pipeline: any ImageLoading) {
        self.view = view
        self.pipeline = pipeline
        view.observeDisplaySize { [weak self] in self?.viewSizeChanged() }
    }

    isolated deinit { cancel() }

    /// Whether an image is loading or waits for the view's size.
    public var isLoading: Bool { activeLoad != nil }

    /// The task of the active load; nil if no load is active, or if the load waits for the view's size. The task ends
    /// after the result of the load is shown or dropped.
    package var task: Task<Void, Never>? { activeLoad?.task }

    /// The task that loads the low-resolution image of the active load; nil if no load is active, or if the load has
    /// not started such a task. The task ends after the low-resolution image is shown or dropped, or fails to load.
    package var lowResolutionTask: Task<Void, Never>? { activeLoad?.lowResolutionTask }

    // MARK: Loading

    /// Loads the image at a URL into the view.
    ///
    /// - Parameters:
    ///   - url: The URL of the image. If it is nil, the current load is canceled, and the view shows the placeholder
    ///     or nothing. A URL with an unsupported scheme fails the load.
    ///   - options: The images to show while the image loads and after a failure, and the closures to call. Default: no
    ///     images and no closures.
    ///   - completion: A closure that is called as described for ``load(_:options:completion:)-(ImageRequest,_,_)``. If
    ///     the URL is nil, it receives a `CancellationError`. Default: nil.
    public func load(
        _ url: URL?, options: BindingOptions = BindingOptions(),
        completion: (@MainActor (Result<ImageResponse, any Error>) -> Void)? = nil
    ) {
        guard let url else { return clear(options, completion) }
        load(ImageRequest(url: url), options: options, completion: completion)
    }

    /// Loads the image of a request into the view.
    ///
    /// ```swift
    /// binder.load(request, options: BindingOptions(placeholder: placeholder))
    /// ```
    ///
    /// If memory serves the request, and the load does not wait for the view's size, the image is shown before this
    /// method returns, without a placeholder. Otherwise the view shows the low-resolution image if that is in memory,
    /// or else the placeholder, or nothing. If `keepsCurrentImage` of the ``BindingOptions`` is true, a view that is
    /// not empty keeps its content instead of the placeholder.
    ///
    /// A load of another request is canceled. If the binder is already loading an equal request, the call joins that
    /// load, and the options of the first call apply. Equal requests have the same source, the same cache policy, the
    /// same key at the view's size, and the same modifier or an identifier for what it selects.
    ///
    /// A request without a target size is loaded at the size of the view (``ImageDisplaying/displaySize``), unless the
    /// options disable this. If the size of the view is not known yet, the load waits for ``viewSizeChanged()``. Until
    /// then, the view shows neither an image from memory nor the low-resolution image, but the placeholder as above.
    ///
    /// If ``/AlcedoCore/ImageRequest/showsCachedFirst`` is true, the cached image is shown first, and then a newer one
    /// if the source has it. If the load ends with the pixels that it has already shown, they are not set again.
    ///
    /// - Parameters:
    ///   - request: The request for the image.
    ///   - options: The images to show while the image loads and after a failure, and the closures to call. Default: no
    ///     images and no closures.
    ///   - completion: A closure that is called once, after the view shows the result. If memory alone serves the load
    ///     and the load does not wait for the view's size, the closure is called before this method returns. It
    ///     receives the response, the pipeline's error unchanged, or a `CancellationError` if another request, a nil
    ///     URL, ``cancel()``, or the release of the binder or its view ended or prevented the load. Default: nil.
    public func load(
        _ request: ImageRequest, options: BindingOptions = BindingOptions(),
        completion: (@MainActor (Result<ImageResponse, any Error>) -> Void)? = nil
    ) {
        guard let view else {
            cancel()
            completion?(.failure(CancellationError()))
            return
        }
        let sized = view.sized(request, options)
        switch state.bind(LoadIdentity(sized ?? request), placeholders: options.placeholders) {
        case .join:
            if let completion { activeLoad?.completions.append(completion) }
        case .begin(let receipt, abandoned: _):
            failed = nil
            let abandoned = activeLoad
            abandoned?.cancel()
            if abandoned?.hasShownProgress == true {
                view.showProgress(DownloadProgress(received: 0, expected: nil))
            }
            let attempt = BindingLoad.Attempt(request: request, options: options)
            activeLoad = BindingLoad(receipt, attempt, request: sized, completion: completion)
            if sized != nil { lookUp(receipt) } else { perform(state.waitForSize(receipt)) }
            // The completion may start another load, so it is called last.
            abandoned?.report(.failure(CancellationError()))
        }
    }

    /// Loads the last request again with its options, if the view still exists and the load failed or was canceled by
    /// the pipeline. A load that ``cancel()`` ended is not repeated.
    ///
    /// - Parameter completion: A closure that is called as described for
    ///   ``load(_:options:completion:)-(ImageRequest,_,_)``. It is not called if this method returns false. Default:
    ///   nil.
    /// - Returns: Whether the request was loaded again.
    @discardableResult
    public func retry(completion: (@MainActor (Result<ImageResponse, any Error>) -> Void)? = nil) -> Bool {
        guard let failed, view != nil else { return false }
        load(failed.request, options: failed.options, completion: completion)
        return true
    }

    /// Cancels the active load, if any. Its completions receive a `CancellationError`. The view keeps its content.
    public func cancel() {
        let abandoned = takeAbandoned()
        updateActivity()
        abandoned?.report(.failure(CancellationError()))
    }

    /// Starts the load that waits for the view's size, if the size is now known. The view or its owner calls this
    /// method whenever the size changes.
    ///
    /// A load that is in flight or has ended keeps the size that it was started with. To load a larger image, load the
    /// request again.
    public func viewSizeChanged() {
        guard let view, let activeLoad, activeLoad.request == nil,
            let sized = view.sized(activeLoad.attempt.request, activeLoad.options),
            let receipt = state.sizeIsKnown(LoadIdentity(sized))
        else { return }
        self.activeLoad?.request = sized
        lookUp(receipt)
    }

    /// Changes the priority of the active load, if any, for example when the view scrolls off the screen. The next load
    /// uses the priority of its own request.
    public func setPriority(_ priority: LoadPriority) { activeLoad?.priority.value = priority }

    // MARK: Load steps

    /// Cancels the active load, and shows the placeholder or nothing.
    private func clear(_ options: BindingOptions, _ completion: Completion?) {
        guard let view else {
            cancel()
            completion?(.failure(CancellationError()))
            return
        }
        failed = nil
        let abandoned = takeAbandoned()
        state.clear(options.placeholders)
        view.display(options.placeholder.map { .placeholder($0) } ?? .nothing)
        updateActivity()
        abandoned?.report(.failure(CancellationError()))
        completion?(.failure(CancellationError()))
    }

    private func takeAbandoned() -> BindingLoad? {
        guard state.cancel() != nil else { return nil }
        activeLoad?.cancel()
        return activeLoad.take()
    }

    private func lookUp(_ receipt: Receipt) {
        guard let activeLoad, let request = activeLoad.request else { return }
        if let image = pipeline.cachedImage(for: request) {
            let isRefreshed = request.showsCachedFirst && request.cachePolicy.allowsNetwork
            let hit = ImageResponse(image: image, layer: .memory)
            perform(state.lookedUp(receipt, .image(isRefreshed: isRefreshed)), .image(hit))
        } else if let image = activeLoad.options.lowResolution.flatMap({ pipeline.cachedImage(for: $0) }) {
            perform(state.lookedUp(receipt, .lowResolution), .preview(image))
        } else {
            perform(state.lookedUp(receipt, .nothing))
        }
    }

    private func start(_ receipt: Receipt) {
        guard let activeLoad, activeLoad.receipt == receipt, let request = activeLoad.request else { return }
        let mailbox = UpdateMailbox { [weak self] in self?.receive(receipt, $0) }
        self.activeLoad?.task = Task { [weak self, pipeline, priority = activeLoad.priority] in
            let result: Result<ImageResponse, any Error>
            do {
                // If the load is canceled before this task runs, the pipeline is not called.
                try Task.checkCancellation()
                result = .success(try await pipeline.load(request, priority: priority) { mailbox.post($0) })
            } catch {
                result = .failure(error)
            }
            self?.finish(receipt, result)
        }
    }

    private func startLowResolution(_ receipt: Receipt) {
        guard let activeLoad, activeLoad.receipt == receipt, let request = activeLoad.options.lowResolution else {
            return
        }
        self.activeLoad?.lowResolutionTask = Task { [weak self, pipeline, priority = activeLoad.priority] in
            // A failure has no effect on the view.
            guard !Task.isCancelled,
                let response = try? await pipeline.load(request, priority: priority, onUpdate: { _ in })
            else { return }
            self?.receive(receipt, .lowResolution, .preview(response.image))
        }
    }

    private func receive(_ receipt: Receipt, _ updates: UpdateMailbox.Updates) {
        guard view != nil else { return viewWasReleased(receipt) }
        if let progress = updates.progress, let activeLoad, activeLoad.receipt == receipt {
            self.activeLoad?.hasShownProgress = true
            view?.showProgress(progress)
            activeLoad.options.onProgress?(progress)
        }
        switch updates.image {
        case .preview(let image)?: receive(receipt, .preview, .preview(image))
        case .cached(let response)? where isShown(response): break
        case .cached(let response)?: receive(receipt, .cached, .image(response))
        case nil: break
        }
    }

    private func receive(_ receipt: Receipt, _ update: BindingState.Update, _ event: LoadEvent) {
        guard view != nil else { return viewWasReleased(receipt) }
        perform(state.received(receipt, update), event)
    }

    private func finish(_ receipt: Receipt, _ result: Result<ImageResponse, any Error>) {
        // A released view shows no result, and the completions receive a cancellation instead.
        guard view != nil else { return viewWasReleased(receipt) }
        switch result {
        case .success(let response):
            perform(state.finish(receipt, .image(isNew: !isShown(response))), .image(response))
        case .failure(let error):
            if state.activeReceipt == receipt { failed = activeLoad?.attempt }
            perform(state.finish(receipt, error is CancellationError ? .cancelled : .failure), .failure(error))
        }
    }

    private func viewWasReleased(_ receipt: Receipt) {
        if state.activeReceipt == receipt { cancel() }
    }

    private func isShown(_ response: ImageResponse) -> Bool {
        activeLoad?.shown?.pixels.sharesMemory(with: response.image.pixels) == true
    }

    // MARK: State actions

    private func perform(_ actions: [BindingState.Action], _ event: LoadEvent? = nil) {
        guard let current = activeLoad, !actions.isEmpty else { return updateActivity() }
        // Reset before any closure runs, because closures may start another load.
        if state.activeReceipt == nil {
            activeLoad = nil
            current.lowResolutionTask?.cancel()
        }
        for action in actions {
            switch action {
            case .show(let slot): show(slot, event, of: current)
            case .startLoad(let receipt): start(receipt)
            case .startLowResolution(let receipt): startLowResolution(receipt)
            case .report:
                updateActivity()
                switch event {
                case .image(let response)?: current.report(.success(response))
                case .failure(let error)?: current.report(.failure(error))
                case .preview?, nil: break
                }
            }
        }
        updateActivity()
    }

    private func show(_ slot: BindingState.Slot, _ event: LoadEvent?, of current: BindingLoad) {
        switch (slot, event) {
        case (.image, .image(let response)?):
            if activeLoad?.receipt == current.receipt { activeLoad?.shown = response.image }
            show(response, current.options)
        case (.preview, .preview(let image)?), (.lowResolution, .preview(let image)?):
            view?.display(.preview(image))
        case (.placeholder, _): view?.display(current.options.placeholder.map { .placeholder($0) } ?? .nothing)
        case (.failureImage, _): view?.display(current.options.failureImage.map { .failure($0) } ?? .nothing)
        case (.image, _), (.preview, _), (.lowResolution, _), (.nothing, _): view?.display(.nothing)
        }
    }

    private func show(_ response: ImageResponse, _ options: BindingOptions) {
        if let onImage = options.onImage { return onImage(response) }
        let content = DisplayContent.image(response.image, from: response.layer)
        if options.usesTransition, response.layer != .memory {
            view?.transition(to: content)
        } else {
            view?.display(content)
        }
    }

    private func updateActivity() {
        guard isActive != isLoading else { return }
        isActive = isLoading
        view?.showActivity(isActive)
    }
}

/// One load of a binder: its request, its tasks, and the completions to call when it ends.
private struct BindingLoad {
    /// The original request and its options, kept for a retry.
    struct Attempt {
        var request: ImageRequest
        var options: BindingOptions
    }

    let receipt: Receipt
    let attempt: Attempt
    /// The request to load; nil while the load waits for the view's size.
    var request: ImageRequest?
    let priority: PriorityHandle
    var completions: [ImageBinder.Completion]
    /// The requested image, as last passed to the view or `onImage`; nil before that.
    var shown: DecodedImage?
    var hasShownProgress = false
    var task: Task<Void, Never>?
    var lowResolutionTask: Task<Void, Never>?

    init(_ receipt: Receipt, _ attempt: Attempt, request: ImageRequest?, completion: ImageBinder.Completion?) {
        self.receipt = receipt
        self.attempt = attempt
        self.request = request
        priority = PriorityHandle(attempt.request.priority)
        completions = completion.map { [$0] } ?? []
    }

    var options: BindingOptions { attempt.options }

    func cancel() {
        task?.cancel()
        lowResolutionTask?.cancel()
    }

    @MainActor func report(_ result: Result<ImageResponse, any Error>) { completions.forEach { $0(result) } }
}
