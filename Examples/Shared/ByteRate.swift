/// How fast bytes have come of late: a mean over a few seconds, so that it neither jumps nor remembers for ever.
struct ByteRate {
    private static let span = Duration.seconds(3)

    /// What comes within this time is one step, so that there are few of them however many files are read.
    private static let stepLength = Duration.milliseconds(50)

    private var steps: [(time: Duration, count: Int)] = []
    private let start: Duration

    /// - Parameter start: The uptime now, as all times here.
    init(start: Duration) { self.start = start }

    mutating func add(_ count: Int, at now: Duration) {
        if let last = steps.last, now - last.time < Self.stepLength {
            steps[steps.count - 1].count += count
        } else {
            steps.removeAll { now - $0.time > Self.span }
            steps.append((now, count))
        }
    }

    func bytesPerSecond(at now: Duration) -> Int {
        let recent = steps.filter { now - $0.time <= Self.span }.reduce(0) { $0 + $1.count }
        // In the first moments there is no mean to speak of.
        return Int(Double(recent) / (max(min(Self.span, now - start), .milliseconds(250)) / .seconds(1)))
    }
}
