import AlcedoLibc

/// A directory held by an open descriptor, with a path as long as the descriptor is open.
///
/// The path contains the descriptor's number. A released cache may use the path later and must find nothing there, so
/// the number stays in use after this value is released.
package final class HeldDirectory: Sendable {
    private let descriptor: Int32

    /// Creates nil if the directory does not exist.
    package init?(_ path: String) {
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
    }

    deinit {
        let nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)
        dup2(nothing, descriptor)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        close(nothing)
    }

    package var path: String { "/proc/self/fd/\(descriptor)" }
}
