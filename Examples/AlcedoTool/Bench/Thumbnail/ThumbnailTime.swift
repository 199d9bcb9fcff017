import AlcedoLibc

/// What some work has taken.
struct ThumbnailTime {
    /// Milliseconds.
    var wall = 0.0
    /// Milliseconds of all threads of the process.
    var processor = 0.0

    static func + (first: Self, second: Self) -> Self {
        Self(wall: first.wall + second.wall, processor: first.processor + second.processor)
    }

    static func of(_ work: () async throws -> Void) async throws -> Self {
        let (wall, processor) = (milliseconds(CLOCK_MONOTONIC), milliseconds(CLOCK_PROCESS_CPUTIME_ID))
        try await work()
        return Self(
            wall: milliseconds(CLOCK_MONOTONIC) - wall, processor: milliseconds(CLOCK_PROCESS_CPUTIME_ID) - processor)
    }

    private static func milliseconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
    }
}
