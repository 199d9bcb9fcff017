import AlcedoLibc
import Testing

/// Keeps the index of a cache's directory, as another process that changes it does: whoever changes something waits.
final class IndexLock: Sendable {
    private let descriptor: Int32

    /// - Parameter directory: A cache's, with an index.
    init(_ directory: String) throws {
        descriptor = open("\(directory)/index", O_RDWR | O_CLOEXEC)
        try #require(descriptor >= 0)
        try #require(flock(descriptor, LOCK_EX) == 0)
    }

    deinit { close(descriptor) }

    func release() { flock(descriptor, LOCK_UN) }
}
