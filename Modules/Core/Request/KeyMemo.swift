import Synchronization

/// Remembers the keys of a request, which cost a walk over its URL, from the first time they are asked for.
final class KeyMemo: Sendable {
    private final class Box: Sendable {
        let key: ImageKey

        init(_ key: ImageKey) { self.key = key }
    }

    private let finished = AtomicLazyReference<Box>()

    /// The key, made by `make` unless it is known.
    func key(_ make: () -> ImageKey) -> ImageKey {
        if let box = finished.load() { return box.key }
        return finished.storeIfNil(Box(make())).key
    }
}
