import AlcedoCore

/// Which load a view waits for, and what it shows. Decides only: never calls out, so that every order of events is a
/// plain test. The binder carries out what each event returns, in the order given.
struct BindingState: Sendable {
    /// Which of the pictures at hand the view shows.
    enum Slot: Equatable, Sendable {
        case nothing
        case placeholder
        case failureImage
        case preview
        case lowResolution
        case image
    }

    enum Start: Equatable, Sendable {
        /// The same load is under way: wait for it.
        case join(Receipt)
        /// Cancel `abandoned`. Then ask the memory cache and report with ``lookedUp(_:_:)``, or call
        /// ``waitForSize(_:)``.
        case begin(Receipt, abandoned: Receipt?)
    }

    enum Action: Equatable, Sendable {
        case show(Slot)
        case startLoad(Receipt)
        /// Load the low-resolution picture, too.
        case startLowResolution(Receipt)
        /// Tell those who wait for this load how it ended.
        case report(Receipt)
    }

    /// What the memory cache has.
    enum Memory: Equatable, Sendable {
        /// The image; whether the source is to be asked for a newer one all the same.
        case image(isRefreshed: Bool)
        case lowResolution
        case nothing
    }

    /// What comes before a load's end.
    enum Update: Equatable, Sendable {
        case preview
        case lowResolution
        /// The image as the caches have it.
        case cached
    }

    enum Outcome: Equatable, Sendable {
        /// Whether it is another image than the one that the view shows.
        case image(isNew: Bool)
        case failure
        case cancelled
    }

    /// What the options hold.
    struct Placeholders: Equatable, Sendable {
        var hasPlaceholder = false
        var hasFailureImage = false
        var keepsCurrentImage = false
        var hasLowResolution = false

        /// What is shown of a request of which there is nothing.
        var standIn: Slot { hasPlaceholder ? .placeholder : .nothing }
    }

    /// How much the view shows of the request; it never goes back.
    private enum Shown: Int, Comparable, Sendable {
        /// What the request before left.
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

    /// The load whose result the view still wants.
    var activeReceipt: Receipt? { load?.receipt }

    /// A request was set.
    mutating func bind(_ identity: LoadIdentity, placeholders: Placeholders) -> Start {
        if let load, load.identity == identity { return .join(load.receipt) }
        let abandoned = cancel()
        lastNumber += 1
        let receipt = Receipt(number: lastNumber)
        load = Load(receipt: receipt, identity: identity, placeholders: placeholders)
        return .begin(receipt, abandoned: abandoned)
    }

    /// The view does not know yet how large it is.
    mutating func waitForSize(_ receipt: Receipt) -> [Action] {
        guard load?.receipt == receipt else { return [] }
        load?.waitsForSize = true
        return showStandIn()
    }

    /// The view has a size, of which the request is `identity`. Returns the load that waited for it, to ask the memory
    /// cache for.
    mutating func sizeIsKnown(_ identity: LoadIdentity) -> Receipt? {
        guard let load, load.waitsForSize else { return nil }
        self.load?.waitsForSize = false
        self.load?.identity = identity
        return load.receipt
    }

    /// The memory cache has answered.
    mutating func lookedUp(_ receipt: Receipt, _ memory: Memory) -> [Action] {
        guard let load, load.receipt == receipt else { return [] }
        switch memory {
        case .image(isRefreshed: false):
            self.load = nil
            return [.show(.image), .report(receipt)]
        case .image(isRefreshed: true):
            self.load?.shown = .image
            return [.show(.image), .startLoad(receipt)]
        case .lowResolution:
            self.load?.shown = .lowResolution
            return [.show(.lowResolution), .startLoad(receipt)]
        case .nothing:
            let low: [Action] = load.placeholders.hasLowResolution ? [.startLowResolution(receipt)] : []
            return showStandIn() + low + [.startLoad(receipt)]
        }
    }

    /// A picture has come before the load's end.
    mutating func received(_ receipt: Receipt, _ update: Update) -> [Action] {
        guard let load, load.receipt == receipt else { return [] }
        switch update {
        case .preview where load.shown <= .preview:
            self.load?.shown = .preview
            return [.show(.preview)]
        case .lowResolution where load.shown < .lowResolution:
            self.load?.shown = .lowResolution
            return [.show(.lowResolution)]
        case .cached:
            self.load?.shown = .image
            return [.show(.image)]
        // What there is, is better.
        case .preview, .lowResolution: return []
        }
    }

    /// A load has ended. The result of any but the active one is dropped: its view shows something else by now.
    mutating func finish(_ receipt: Receipt, _ outcome: Outcome) -> [Action] {
        guard let load, load.receipt == receipt else { return [] }
        self.load = nil
        switch outcome {
        case .image(isNew: true): return [.show(.image), .report(receipt)]
        case .image(isNew: false), .cancelled: return [.report(receipt)]
        case .failure: return Self.afterFailure(load).map { [.show($0), .report(receipt)] } ?? [.report(receipt)]
        }
    }

    /// The load is no longer wanted; what the view shows stays. Returns the load to cancel.
    mutating func cancel() -> Receipt? {
        defer { load = nil }
        return load?.receipt
    }

    private mutating func showStandIn() -> [Action] {
        guard let placeholders = load?.placeholders, load?.shown == .another,
            placeholders.hasPlaceholder || !placeholders.keepsCurrentImage
        else { return [] }
        load?.shown = .standIn
        return [.show(placeholders.standIn)]
    }

    /// What a view is to show whose load has failed; nil for what it shows.
    private static func afterFailure(_ load: Load) -> Slot? {
        switch load.shown {
        case .image: nil
        case .standIn, .lowResolution: load.placeholders.hasFailureImage ? .failureImage : nil
        // A picture of another request, or a part that will never be whole, must not stay for good.
        case .another, .preview: load.placeholders.hasFailureImage ? .failureImage : load.placeholders.standIn
        }
    }
}

/// Names one load of one binder. Two loads of the same URL have two receipts.
struct Receipt: Hashable, Sendable {
    let number: Int
}

/// Tells whether two requests ask for the same load, so that the second need not start one.
///
/// Only for that question. Which load a result belongs to is told by its ``Receipt``.
struct LoadIdentity: Equatable, Sendable {
    private let key: ImageKey
    // A request may carry a resource name of its own, so equal keys do not mean equal sources.
    private let source: ImageSource.Identity
    // A reload is not satisfied by a load in flight that may read the caches.
    private let cachePolicy: CachePolicy

    init(_ request: ImageRequest) {
        key = request.key
        cachePolicy = request.cachePolicy
        source = request.source.identity
    }
}
