/// Which load a view waits for, and what it shows. Decides only: never calls out, so that every order of events is a
/// plain test. The binder carries out what each event returns, in the order given.
struct BindingState: Sendable {
    /// Which of the pictures at hand the view shows.
    enum Slot: Equatable, Sendable {
        case nothing
        case placeholder
        case failureImage
        case image
    }

    enum Start: Equatable, Sendable {
        /// The same load is under way: wait for it.
        case join(Receipt)
        /// Cancel `abandoned`, ask the memory cache, and report with ``lookedUp(_:hit:)``.
        case lookUp(Receipt, abandoned: Receipt?)
    }

    enum Action: Equatable, Sendable {
        case show(Slot)
        case startLoad(Receipt)
        /// Tell those who wait for this load how it ended.
        case report(Receipt)
    }

    enum Outcome: Equatable, Sendable {
        case image
        case failure
        case cancelled
    }

    /// Which pictures the options hold.
    struct Look: Equatable, Sendable {
        var hasPlaceholder = false
        var hasFailureImage = false
        var keepsCurrentImage = false
    }

    private struct Load: Sendable {
        var receipt: Receipt
        var identity: LoadIdentity
        var look: Look
    }

    private var load: Load?
    private var lastNumber = 0

    /// The load whose result the view still wants.
    var activeReceipt: Receipt? { load?.receipt }

    /// A request was set.
    mutating func bind(_ identity: LoadIdentity, look: Look) -> Start {
        if let load, load.identity == identity { return .join(load.receipt) }
        let abandoned = cancel()
        lastNumber += 1
        let receipt = Receipt(number: lastNumber)
        load = Load(receipt: receipt, identity: identity, look: look)
        return .lookUp(receipt, abandoned: abandoned)
    }

    /// The memory cache has answered.
    mutating func lookedUp(_ receipt: Receipt, hit: Bool) -> [Action] {
        guard let load, load.receipt == receipt else { return [] }
        if hit {
            self.load = nil
            return [.show(.image), .report(receipt)]
        }
        if load.look.hasPlaceholder { return [.show(.placeholder), .startLoad(receipt)] }
        return load.look.keepsCurrentImage ? [.startLoad(receipt)] : [.show(.nothing), .startLoad(receipt)]
    }

    /// A load has ended. The result of any but the active one is dropped: its view shows something else by now.
    mutating func finish(_ receipt: Receipt, _ outcome: Outcome) -> [Action] {
        guard let load, load.receipt == receipt else { return [] }
        self.load = nil
        switch outcome {
        case .image: return [.show(.image), .report(receipt)]
        case .cancelled: return [.report(receipt)]
        case .failure:
            if load.look.hasFailureImage { return [.show(.failureImage), .report(receipt)] }
            // A picture that was kept belongs to another request; without a new one it must not stay for good.
            let isStale = load.look.keepsCurrentImage && !load.look.hasPlaceholder
            return isStale ? [.show(.nothing), .report(receipt)] : [.report(receipt)]
        }
    }

    /// The load is no longer wanted; what the view shows stays. Returns the load to cancel.
    mutating func cancel() -> Receipt? {
        defer { load = nil }
        return load?.receipt
    }
}
