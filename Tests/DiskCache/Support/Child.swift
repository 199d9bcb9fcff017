import Glibc

/// What the processes of exit tests do.
enum Child {
    /// One line on standard output, at once: what is said is said, whatever happens next.
    static func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = write(1, bytes, bytes.count)
    }

    /// Ends this process by SIGKILL at an instant that has nothing to do with what it does.
    static func dieSoon(within milliseconds: Int) {
        let microseconds = UInt32.random(in: 500...UInt32(milliseconds * 1000))
        Task.detached(priority: .high) {
            usleep(microseconds)
            kill(getpid(), SIGKILL)
        }
    }
}
