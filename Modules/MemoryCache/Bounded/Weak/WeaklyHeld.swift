public import AlcedoCore

/// A value that can be found again for as long as somebody else holds it.
public protocol WeaklyHeld: Sendable {
    /// Gives the value back while something holds what it is made of, then nil. Keeps nothing large alive itself. nil when
    /// that cannot be.
    ///
    /// Asked for, called and let go under the cache's lock: it must not call the cache, nor may what it keeps alive when
    /// that goes.
    var weakReference: (@Sendable () -> Self?)? { get }
}

extension DecodedImage: WeaklyHeld {}
