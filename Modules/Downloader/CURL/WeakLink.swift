import AlcedoCore

/// Lets the parts of an object find it without keeping it alive.
final class WeakLink<Object: AnyObject & Sendable>: Sendable {
    private struct Reference {
        weak var object: Object?
    }

    private let reference = Locked(Reference())

    var object: Object? {
        get { reference.withLock { $0.object } }
        set { reference.withLock { $0.object = newValue } }
    }
}
