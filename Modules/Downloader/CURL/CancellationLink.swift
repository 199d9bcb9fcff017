import AlcedoCore

/// Lets a body's callbacks find their exchange without keeping it alive: the exchange owns the body.
final class CancellationLink: Sendable {
    private struct Reference {
        weak var exchange: CURLExchange?
    }

    private let reference = Locked(Reference())

    var exchange: CURLExchange? {
        get { reference.withLock { $0.exchange } }
        set { reference.withLock { $0.exchange = newValue } }
    }
}
