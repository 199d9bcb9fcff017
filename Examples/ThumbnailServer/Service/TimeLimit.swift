/// Work that is waited for only so long.
enum TimeLimit {
    /// Returns when the work has ended, or the limit is over; the work goes on then, and nobody hears of it.
    static func wait(for limit: Duration, _ work: @escaping @Sendable () async -> Void) async {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        Task {
            await work()
            end.finish()
        }
        let alarm = Task {
            try? await Task.sleep(for: limit)
            end.finish()
        }
        for await _ in ends {}
        alarm.cancel()
    }
}
