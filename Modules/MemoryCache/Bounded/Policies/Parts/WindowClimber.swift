/// Finds the size of a window by climbing the hit ratio: each sample changes the window, on in the same direction while
/// that pays, else back, by ever smaller steps, and by large ones again when the ratio jumps.
///
/// Source: G. Einziger, O. Eytan, R. Friedman, B. Manes, "Adaptive Software Cache Management", Middleware 2018.
struct WindowClimber: Sendable {
    private static let firstStep = 0.0625
    private static let decay = 0.98
    /// A change of the hit ratio that means the load has changed.
    private static let restart = 0.05
    private static let samplePerEntry = 10

    /// Share of the cache that the window should have.
    private(set) var share = 0.01
    private var step = firstStep
    private var hits = 0
    private var misses = 0
    private var lastRatio: Double?

    mutating func noteHit() { hits += 1 }

    /// - Parameter count: How many entries there are.
    mutating func noteMiss(count: Int) {
        misses += 1
        guard hits + misses >= Self.samplePerEntry * max(count, 16) else { return }
        let ratio = Double(hits) / Double(hits + misses)
        if let lastRatio {
            let change = ratio - lastRatio
            if change < 0 { step = -step }
            share = min(0.8, max(0.01, share + step))
            let size = abs(change) >= Self.restart ? Self.firstStep : abs(step) * Self.decay
            step = step < 0 ? -size : size
        }
        lastRatio = ratio
        (hits, misses) = (0, 0)
    }
}
