import AlcedoLibc

/// Descriptors on which the kernel tells that tasks were stalled for want of memory, closed when the value goes.
///
/// Each becomes readable with priority (POLLPRI) at most once a window. Source: accounting/psi.rst, "Monitoring for
/// pressure thresholds".
struct StallTriggers: ~Copyable {
    /// A multiple of two seconds, or only the privileged may ask for it.
    static let window = Duration.seconds(2)

    /// The trigger for a warning, or -1.
    let warning: Int32
    /// The trigger for the critical level, or -1.
    let critical: Int32
    /// Reads what the kernel has counted; nil when it does not tell.
    let readCount: @Sendable () -> StallCount?

    /// Takes charge of two descriptors, -1 for one there is not.
    init(
        warning: Int32 = -1, critical: Int32 = -1, readCount: @escaping @Sendable () -> StallCount? = { nil }
    ) {
        (self.warning, self.critical, self.readCount) = (warning, critical, readCount)
    }

    /// Asks for both, and is content with one. Whatever the kernel refuses is quietly done without.
    ///
    /// - Parameter path: A pressure file: of the machine, or of a control group.
    init(arming path: String) {
        let microseconds = Int(Self.window / .microseconds(1))
        self.init(
            warning: Self.arm(path, "some \(StallCount.leastSome) \(microseconds)"),
            critical: Self.arm(path, "full \(StallCount.leastFull) \(microseconds)")
        ) {
            SystemFiles().contents(path).flatMap { StallCount($0) }
        }
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
