import AlcedoMemoryCache

/// A value of a test's own that can be found while it is held.
final class ReferencedNumber: WeaklyReferenceable {
    let value: Int

    init(_ value: Int) { self.value = value }

    var weakReference: (@Sendable () -> ReferencedNumber?)? { { [weak self] in self } }
}
