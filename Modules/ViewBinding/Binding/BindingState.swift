import AlcedoCore

/// The state of a binder: its active load, if any, and the best content of that load that the view has shown.
///
/// A pure state machine without side effects, so that every order of events can be tested. The binder performs the
/// returned actions in order.
struct BindingState: Sendable {
    /// The content that the view shows.
    enum Slot: Equatable, Sendable {
        case nothing
        case placeholder
        case failureImage
        case preview
        case lowResolution
        case image
    }

    enum Start: Equatable, Sendable {
        /// Join the active load, which has the same identity. It may still wait for the view's size.
        case join(Receipt)
        /// Cancel `abandoned`, the previous load, if there is one. Then call ``waitForSize(_:)`` if the view's size is
        /// needed and not known. Otherwise look up the image in the memory cache and report the result with
        /// ``lookedUp(_:_:)``.
        case begin(Receipt, abandoned: Receipt?)
    }

    enum Action: Equatable, Sendable {
        case show(Slot)
        case startLoad(Receipt)
        /// Load the low-resolution image as well.
        case startLowResolution(Receipt)
        /// Call the completions of this load with its result.
        case report(Receipt)
    }

    /// The result of looking up the memory cache.
    enum Memory: Equatable, Sendable {
        /// The requested image. `isRefreshed` tells whether the source is checked for a newer image anyway.
        case image(isRefreshed: Bool)
        case lowResolution
        case nothing
    }

    /// An image that arrives before the load ends.
    enum Update: Equatable, Sendable {
        case preview
        case lowResolution
        /// The cached image of the request.
        case cached
    }

    enum Outcome: Equatable, Sendable {
        /// The image. `isNew` is false if the load last showed the same pixels in memory.
        case image(isNew: Bool)
        case failure
        case cancelled
    }

    /// The options that decide what the view shows: which images exist, and whether the current image is kept.
    struct Placeholders: Equatable, Sendable {
        var hasPlaceholder = false
        var hasFailureImage = false
        var keepsCurrentImage = false
        var hasLowResolution = false

        /// The content to show while no image of the request is available, unless the current image is kept.
        var standIn: Slot { hasPlaceholder ? .placeholder : .nothing }
    }

    /// The best content of the request that the view has shown. It never decreases.
    private enum Shown: Int, Comparable, Sendable {
        /// None yet. The view still shows its earlier content.
        case another
        case standIn
        case preview
        case lowResolution
        case image

        static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
    }

    private struct Load: Sendable {
        var receipt: Receipt
        var identity: LoadIdentity
        var placeholders: Placeholders
        var shown = Shown.another
        var waitsForSize = false
    }

    private var load: Load?
    private var lastNumber = 0
    /// Whether the view shows nothing: no image of any request, no placeholder and no failure image.
    private var isEmpty = true

    /// The receipt of the active load; nil if no load is active.
    var activeReceipt: Receipt? { load?.receipt }

    /// Begins a load, which replaces the active load, or joins the active load if the identity is the same.
    mutating func bind(_ identity: LoadIdentity, placeholders: Placeholders) -> Start {
        if let load, load.identity == identity { return .join(load.receipt) }
        let abandoned = cancel()
        lastNumber += 1
        let receipt = Receipt(number: lastNumber)
        load = Load(receipt: receipt, identity: identity, placeholders: placeholders)
        return .begin(receipt, abandoned: abandoned)
    }

    /// Marks the load as waiting for the view's size. Returns the action that shows the stand-in, if one is needed.
    mutating func waitForSize(_ receipt: Receipt) -> [Action] {
        guard load?.receipt == receipt else { return [] }
        load?.waitsForSize = true
        return showStandIn()
    }

    /// Handles the size of the view when it becomes known. Returns the receipt of the load that waited for the size;
    /// nil if no load waited. The next step is to look up this load's image in the memory cache.
    ///
    /// - Parameter identity: The identity of the request at this size.
    mutating func sizeIsKnown(_ identity: LoadIdentity) -> Receipt? {
        guard let load, load.waitsForSize else { return nil }
        self.load?.waitsForSize = false
        self.load?.identity = identity
        return load.receipt
    }

    /// Handles the result of looking up the memory cache.
    mutating func lookedUp(_ receipt: Receipt, _ memory: Memory) -> [Action] {
        guard let load, load.receipt == receipt else { return [] }
        switch memory {
        case .image(isRefreshed: false):
            self.load = nil
            return [show(.image), .report(receipt)]
        case .image(isRefreshed: true):
            self.load?.shown = .image
            return [show(.image), .startLoad(receipt)]
        case .lowResolution:
            self.load?.shown = .lowResolution
            return [show(.lowResolution), .startLoad(receipt)]
        case .nothing:
            let low: [Action] = load.placeholders.hasLowResolution ? [.startLowResolution(receipt)] : []
            return showStandIn() + low + [.startLoad(receipt)]
        }
    }

    /// Handles an image that arrives before the load ends.
    mutating func received(_ receipt: Receipt, _ update: Update) -> [Action] {
        guard let load, load.receipt == receipt else { return [] }
        switch update {
        case .preview where load.shown <= .preview:
            self.load?.shown = .preview
            return [show(.preview)]
        case .lowResolution where load.shown < .lowResolution:
            self.load?.shown = .lowResolution
            return [show(.lowResolution)]
        case .cached:
            self.load?.shown = .image
            return [show(.image)]
        // The view already shows a better image.
        case .preview, .lowResolution: return []
        }
    }

    /// Handles the end of a load. Drops the result of a load that is no longer active, because that load was canceled
    /// or replaced.
    mutating func finish(_ receipt: Receipt, _ outcome: Outcome) -> [Action] {
        guard let load, load.receipt == receipt else { return [] }
        self.load = nil
        switch outcome {
        case .image(isNew: true): return [show(.image), .report(receipt)]
        case .image(isNew: false), .cancelled: return [.report(receipt)]
        case .failure: return contentAfterFailure(of: load).map { [show($0), .report(receipt)] } ?? [.report(receipt)]
        }
    }

    /// Ends the active load and keeps the content of the view. Returns the receipt of the load to cancel; nil if no
    /// load was active.
    mutating func cancel() -> Receipt? {
        defer { load = nil }
        return load?.receipt
    }

    /// Handles that the binder has removed the image from the view, and shows the placeholder if there is one.
    mutating func clear(_ placeholders: Placeholders) { isEmpty = !placeholders.hasPlaceholder }

    private mutating func showStandIn() -> [Action] {
        guard let placeholders = load?.placeholders, load?.shown == .another,
            !placeholders.keepsCurrentImage || placeholders.hasPlaceholder && isEmpty
        else { return [] }
        load?.shown = .standIn
        return [show(placeholders.standIn)]
    }

    private mutating func show(_ slot: Slot) -> Action {
        isEmpty = slot == .nothing
        return .show(slot)
    }

    /// Returns the content to show after the load has failed; nil to keep the current content.
    private func contentAfterFailure(of load: Load) -> Slot? {
        switch load.shown {
        case .image: nil
        case .another where load.placeholders.keepsCurrentImage && !isEmpty && !load.placeholders.hasFailureImage: nil
        case .standIn, .lowResolution: load.placeholders.hasFailureImage ? .failureImage : nil
        // A preview that will never be complete must not stay on screen, nor an image of another request unless the
        // caller asked for it.
        case .another, .preview: load.placeholders.hasFailureImage ? .failureImage : load.placeholders.standIn
        }
    }
}

/// The identifier of a load within its binder. Two loads of one binder have different receipts, also for the same URL.
struct Receipt: Hashable, Sendable {
    let number: Int
}

/// The part of a request that decides whether two requests can share one load.
///
/// Results are matched to loads by ``Receipt`` instead.
struct LoadIdentity: Equatable, Sendable {
    private let key: ImageKey
    // A request may have its own resource name, so equal keys do not imply equal sources.
    private let source: ImageSource.Identity
    // The image depends on the modifier, unless an identifier names what it selects.
    private let modifier: RequestToken?
    // A load in flight that may read the caches does not satisfy a reload.
    private let cachePolicy: CachePolicy

    init(_ request: ImageRequest) {
        key = request.key
        cachePolicy = request.cachePolicy
        source = request.source.identity
        modifier = request.additionalIdentifier == nil ? request.modifierToken : nil
    }
}
