import AlcedoCore

/// Lets the parts of an object find it without keeping it alive. They must not outlive it.
///
/// Not a weak reference, which costs an allocation of its own for each object.
final class UnownedLink<Object: AnyObject & Sendable>: Sendable {
    private struct Reference {
        unowned var object: Object?
    }

    private let reference = Locked(Reference())

    var object: Object? {
        get { reference.withLock { $0.object } }
        set { reference.withLock { $0.object = newValue } }
    }
}
