import AlcedoMemoryCache

/// A test's value that is found while it is referenced.
final class ReferencedNumber: WeaklyReferenceable {
    let value: Int

    init(_ value: Int) { self.value = value }

    var weakReference: (@Sendable () -> ReferencedNumber?)? { { [weak self] in self } }
}
