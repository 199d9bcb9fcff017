import Glibc

/// Descriptors on which the kernel tells that tasks were stalled for want of memory, closed when the value goes.
///
/// Each becomes readable with priority (POLLPRI) at most once a window. Source: accounting/psi.rst, "Monitoring for
/// pressure thresholds".
struct StallTriggers: ~Copyable {
    /// Some tasks were stalled for 100 ms of two seconds. Microseconds; a window must be a multiple of two seconds, or
    /// only the privileged may ask for it.
    private static let some = "some 100000 2000000"
    /// All tasks were stalled at once for 150 ms of two seconds.
    private static let full = "full 150000 2000000"

    /// The trigger for a warning, or -1.
    let warning: Int32
    /// The trigger for the critical level, or -1.
    let critical: Int32

    /// Takes charge of two descriptors, -1 for one there is not.
    init(warning: Int32 = -1, critical: Int32 = -1) { (self.warning, self.critical) = (warning, critical) }

    /// Asks for both, and is content with one. Whatever the kernel refuses is quietly done without.
    ///
    /// - Parameter path: A pressure file: of the machine, or of a control group.
    init(arming path: String) {
        self.init(warning: Self.arm(path, Self.some), critical: Self.arm(path, Self.full))
    }

    deinit {
        if warning >= 0 { close(warning) }
        if critical >= 0 { close(critical) }
    }

    var isArmed: Bool { warning >= 0 || critical >= 0 }

    private static func arm(_ path: String, _ trigger: String) -> Int32 {
        let file = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        guard file >= 0 else { return -1 }
        // In one write, with the null at the end: the kernel takes the last byte for it.
        guard trigger.withCString({ write(file, $0, trigger.utf8.count + 1) }) > 0 else {
            close(file)
            return -1
        }
        return file
    }
}
