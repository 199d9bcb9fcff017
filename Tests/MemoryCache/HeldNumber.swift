import AlcedoMemoryCache

/// A value of a test's own that can be found while it is held.
final class HeldNumber: WeaklyReferenceable {
    let value: Int

    init(_ value: Int) { self.value = value }

    var weakReference: (@Sendable () -> HeldNumber?)? { { [weak self] in self } }
}
