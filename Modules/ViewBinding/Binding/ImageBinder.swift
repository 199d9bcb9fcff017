public import AlcedoCore

/// Loads images into one view: at most one load at a time, and never shows a result that came too late.
///
/// Make one for each view and let the view, or its cell, own it; the binder holds the view weakly. Set a request with
/// ``bind(_:options:completion:)`` whenever the view is to show something else, and call ``cancel()`` when it leaves
/// the screen. The load is cancelled too when the binder goes, or when it learns that the view has gone.
@MainActor public final class ImageBinder {
    /// Told how a load ended.
    public typealias Completion = @MainActor (Result<ImageResponse, any Error>) -> Void

    /// What there is to show, or to report.
    private enum News {
        /// A preview, or the low-resolution picture.
        case picture(DecodedImage)
        case image(ImageResponse)
        case failure(any Error)
    }

    private let loader: any ImageLoading
    private weak var view: (any ImageDisplaying)?
    private var state = BindingState()
    /// The load of the state's active receipt; nil when there is none.
    private var load: BindingLoad?
    private var failed: BindingLoad.Attempt?
    private var isActive = false

    /// - Parameters:
    ///   - view: Held weakly.
    ///   - loader: Has the images: a pipeline.
    public init(view: any ImageDisplaying, loader: any ImageLoading) {
        self.view = view
        self.loader = loader
    }

    isolated deinit { cancel() }

    /// Whether an image is on its way, or waits for the view's size.
    public var isLoading: Bool { load != nil }

    /// The task of the running load. It ends after its outcome is shown, or dropped.
    package var task: Task<Void, Never>? { load?.task }

    /// The task of the low-resolution picture, of which the same is true.
    package var lowResolutionTask: Task<Void, Never>? { load?.lowResolutionTask }

    // MARK: What the view is to show

    /// Makes the view show the image of `request`.
    ///
    /// An image in memory is shown before the call returns, without a placeholder. Otherwise the view shows the
    /// low-resolution picture if that is in memory, the placeholder, or nothing, until the image has come. The load of
    /// another request is cancelled. A request for what is being loaded already (the same key, source and cache policy)
    /// joins that load and changes nothing else: the first call's options stay.
    ///
    /// A request without a target size gets that of the view (``ImageDisplaying/displaySize``), unless the options say
    /// otherwise. A view that has none yet shows the placeholder, and the load waits for ``viewSizeChanged()``.
    ///
    /// Where the request shows what is cached first, the image of the caches is shown when it is there, and the load ends
    /// with what the source has; what is on screen already is not set again.
    ///
    /// - Parameters:
    ///   - request: nil cancels the load and shows the placeholder, or nothing.
    ///   - options: What is shown meanwhile and after a failure, and who is told. Default: nothing, nobody.
    ///   - completion: Called once, after the view shows the outcome; before this call returns when the image is in
    ///     memory. Gets the loader's error as it is; `CancellationError` when another request, ``cancel()`` or the end
    ///     of the binder or its view came first; ``ImageBindingError`` for a nil request.
    public func bind(
        _ request: ImageRequest?, options: BindingOptions = BindingOptions(), completion: Completion? = nil
    ) {
        guard let view else {
            cancel()
            completion?(.failure(CancellationError()))
            return
        }
        guard let request else {
            failed = nil
            let abandoned = takeAbandoned()
            view.display(options.placeholder.map { .placeholder($0) } ?? .nothing)
            updateActivity()
            abandoned?.report(.failure(CancellationError()))
            completion?(.failure(ImageBindingError(.noRequest, "There is no request to load an image for.")))
            return
        }
        let sized = view.sized(request, options)
        switch state.bind(LoadIdentity(sized ?? request), look: options.look) {
        case .join:
            if let completion { load?.completions.append(completion) }
        case .begin(let receipt, abandoned: _):
            failed = nil
            let abandoned = load
            abandoned?.cancel()
            let attempt = BindingLoad.Attempt(request: request, options: options)
            load = BindingLoad(receipt, attempt, request: sized, completion: completion)
            if sized != nil { lookUp(receipt) } else { perform(state.waitForSize(receipt)) }
            // Last, because a completion may bind again.
            abandoned?.report(.failure(CancellationError()))
        }
    }

    /// Sets the request again whose load was the last, if that failed, with its options.
    ///
    /// - Returns: Whether there was one.
    @discardableResult public func retry(completion: Completion? = nil) -> Bool {
        guard let failed else { return false }
        bind(failed.request, options: failed.options, completion: completion)
        return true
    }

    /// Cancels the load in flight, if any. What the view shows stays.
    public func cancel() {
        let abandoned = takeAbandoned()
        updateActivity()
        abandoned?.report(.failure(CancellationError()))
    }

    /// Begins the load that waits for the view's size, if that is known by now. For the view, or its owner, to call.
    ///
    /// A load that is under way, or has ended, keeps the size that it was begun with: set the request again for a larger
    /// picture.
    public func viewSizeChanged() {
        guard let view, let load, load.request == nil, let sized = view.sized(load.attempt.request, load.options),
            let receipt = state.sizeIsKnown(LoadIdentity(sized))
        else { return }
        self.load?.request = sized
        lookUp(receipt)
    }

    /// Changes how urgent the load in flight is, if there is one: less while its cell is off the screen, say.
    public func setPriority(_ priority: LoadPriority) { load?.priority.set(priority) }

    // MARK: One load

    private func takeAbandoned() -> BindingLoad? {
        guard state.cancel() != nil else { return nil }
        load?.cancel()
        return load.take()
    }

    private func lookUp(_ receipt: Receipt) {
        guard let load, let request = load.request else { return }
        if let image = loader.cachedImage(for: request) {
            let isRefreshed = request.showsCachedFirst && request.cachePolicy.allowsNetwork
            let hit = ImageResponse(image: image, layer: .memory)
            perform(state.lookedUp(receipt, .image(isRefreshed: isRefreshed)), .image(hit))
        } else if let picture = load.options.lowResolution.flatMap({ loader.cachedImage(for: $0) }) {
            perform(state.lookedUp(receipt, .lowResolution), .picture(picture))
        } else {
            perform(state.lookedUp(receipt, .nothing))
        }
    }

    private func start(_ receipt: Receipt) {
        guard let load, load.receipt == receipt, let request = load.request else { return }
        let mailbox = UpdateMailbox { [weak self] in self?.receive(receipt, $0) }
        self.load?.task = Task { [weak self, loader, priority = load.priority] in
            let result: Result<ImageResponse, any Error>
            do {
                // A cell that is bound again within one turn of the main actor never reaches the loader.
                try Task.checkCancellation()
                result = .success(try await loader.load(request, priority: priority) { mailbox.post($0) })
            } catch {
                result = .failure(error)
            }
            self?.finish(receipt, result)
        }
    }

    private func startLowResolution(_ receipt: Receipt) {
        guard let load, load.receipt == receipt, let request = load.options.lowResolution else { return }
        self.load?.lowResolutionTask = Task { [weak self, loader, priority = load.priority] in
            // Without it the view is as it would be had nobody asked for it.
            guard !Task.isCancelled,
                let response = try? await loader.load(request, priority: priority, onUpdate: { _ in })
            else { return }
            self?.receive(receipt, .lowResolution, .picture(response.image))
        }
    }

    private func receive(_ receipt: Receipt, _ news: UpdateMailbox.News) {
        guard view != nil else { return viewHasGone(receipt) }
        if let progress = news.progress, let load, load.receipt == receipt {
            view?.showProgress(progress)
            load.options.onProgress?(progress)
        }
        switch news.picture {
        case .preview(let picture)?: receive(receipt, .preview, .picture(picture))
        case .cached(let response)? where isShown(response): break
        case .cached(let response)?: receive(receipt, .cached, .image(response))
        case nil: break
        }
    }

    private func receive(_ receipt: Receipt, _ arrival: BindingState.Arrival, _ news: News) {
        guard view != nil else { return viewHasGone(receipt) }
        perform(state.arrived(receipt, arrival), news)
    }

    private func finish(_ receipt: Receipt, _ result: Result<ImageResponse, any Error>) {
        // A view that has gone wants no outcome, and no failure is reported on its behalf.
        guard view != nil else { return viewHasGone(receipt) }
        switch result {
        case .success(let response):
            perform(state.finish(receipt, .image(isNew: !isShown(response))), .image(response))
        case .failure(let error):
            if state.activeReceipt == receipt { failed = load?.attempt }
            perform(state.finish(receipt, error is CancellationError ? .cancelled : .failure), .failure(error))
        }
    }

    private func viewHasGone(_ receipt: Receipt) {
        if state.activeReceipt == receipt { cancel() }
    }

    private func isShown(_ response: ImageResponse) -> Bool {
        load?.shown?.pixels.sharesMemory(with: response.image.pixels) == true
    }

    // MARK: What the state decides

    private func perform(_ actions: [BindingState.Action], _ news: News? = nil) {
        guard let current = load, !actions.isEmpty else { return }
        // Taken out before anything is called that may bind again.
        if state.activeReceipt == nil {
            load = nil
            current.lowResolutionTask?.cancel()
        }
        for action in actions {
            switch action {
            case .show(let slot): show(slot, news, of: current)
            case .startLoad(let receipt): start(receipt)
            case .startLowResolution(let receipt): startLowResolution(receipt)
            case .report:
                updateActivity()
                switch news {
                case .image(let response)?: current.report(.success(response))
                case .failure(let error)?: current.report(.failure(error))
                case .picture?, nil: break
                }
            }
        }
        updateActivity()
    }

    private func show(_ slot: BindingState.Slot, _ news: News?, of current: BindingLoad) {
        switch (slot, news) {
        case (.image, .image(let response)?):
            if load?.receipt == current.receipt { load?.shown = response.image }
            show(response, current.options)
        case (.preview, .picture(let picture)?), (.lowResolution, .picture(let picture)?):
            view?.display(.preview(picture))
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
