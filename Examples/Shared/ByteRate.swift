/// How fast bytes have come of late: a mean over a few seconds, so that it neither jumps nor remembers for ever.
struct ByteRate {
    private static let span = Duration.seconds(3)

    private var steps: [(time: ContinuousClock.Instant, count: Int)] = []
    private let start = ContinuousClock.now

    mutating func add(_ count: Int, at now: ContinuousClock.Instant) {
        steps.removeAll { now - $0.time > Self.span }
        steps.append((now, count))
    }

    func bytesPerSecond(at now: ContinuousClock.Instant) -> Int {
        let recent = steps.filter { now - $0.time <= Self.span }.reduce(0) { $0 + $1.count }
        // In the first moments there is no mean to speak of.
        return Int(Double(recent) / (max(min(Self.span, now - start), .milliseconds(250)) / .seconds(1)))
    }
}
