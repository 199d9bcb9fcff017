import AlcedoCore

/// How long tasks have been stalled for want of memory so far, in microseconds. Only rises.
///
/// Source: accounting/psi.rst, "Pressure interface".
struct StallCount: Sendable, Equatable {
    /// Some tasks were stalled for so long of a trigger's window: a warning.
    static let leastSome = 100_000
    /// All tasks were stalled at once for so long of it: critical.
    static let leastFull = 150_000

    /// Some of them.
    let some: Int
    /// All of them at once.
    let full: Int

    init(some: Int, full: Int) { (self.some, self.full) = (some, full) }

    /// Finds the figures `total` in the text of a pressure file. nil when one is missing.
    init?(_ text: [UInt8]) {
        guard let some = KernelText.number(of: "total", after: "some", in: text),
            let full = KernelText.number(of: "total", after: "full", in: text)
        else { return nil }
        self.init(some: some, full: full)
    }

    /// Whether enough has been added to an earlier count for the trigger of a level to fire.
    func shows(_ level: MemoryPressure, since earlier: Self) -> Bool {
        switch level {
        case .normal: true
        case .warning: some - earlier.some >= Self.leastSome
        case .critical: full - earlier.full >= Self.leastFull
        }
    }
}
