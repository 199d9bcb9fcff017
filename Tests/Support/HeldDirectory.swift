import AlcedoLibc

/// A folder that an open descriptor holds, and that has a path for as long as it does.
///
/// The path says the descriptor's number. A cache that was let go of may use it later, and must find nothing there then: the
/// number stays taken when the value goes, or it would lead to whatever is opened next.
package final class HeldDirectory: Sendable {
    private let descriptor: Int32

    /// nil when there is no such folder.
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
