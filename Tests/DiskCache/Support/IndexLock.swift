import AlcedoLibc
import Testing

/// Locks the index of a cache's directory like another process that changes it, so that changes wait.
final class IndexLock: Sendable {
    private let descriptor: Int32

    /// - Parameter directory: The directory of a cache with an index.
    init(_ directory: String) throws {
        descriptor = open("\(directory)/index", O_RDWR | O_CLOEXEC)
        try #require(descriptor >= 0)
        try #require(flock(descriptor, LOCK_EX) == 0)
    }

    deinit { close(descriptor) }

    func release() { flock(descriptor, LOCK_UN) }
}
