import AlcedoLibc
import Testing

/// Compares the durations of two runs of the same work.
package enum LinearTime {
    /// Records an issue unless four times as much work takes about four times as long, where the square would take
    /// sixteen times.
    package static func expect(_ short: () -> Void, fourTimes long: () -> Void) {
        // Far less than sixteen times the duration, plus noise.
        let most = time(short) * 9 + .milliseconds(20)
        var needed = Duration.zero
        for _ in 0..<3 {
            needed = time(long)
            if needed < most { return }
        }
        Issue.record("\(needed), where at most \(most) is linear")
    }

    /// Returns the processor time of this thread, because other tests run concurrently.
    private static func time(_ body: () -> Void) -> Duration {
        let start = uptime()
        body()
        return uptime() - start
    }

    private static func uptime() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
