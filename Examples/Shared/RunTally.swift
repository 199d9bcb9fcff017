import Alcedo

/// How many of its images a run has done, for the word that a person gets who breaks it off.
public final class RunTally: Sendable {
    private let total: Int
    private let deed: String
    private let report: JobReport
    private let done = Locked(0)

    /// - Parameter deed: What has become of an image that counts, such as "written".
    public init(of total: Int, _ deed: String, _ report: JobReport) {
        (self.total, self.deed, self.report) = (total, deed, report)
    }

    public func add() { done.withLock { $0 += 1 } }

    /// Says how far the run has come. For scripts too: their lines tell nothing of those that are missing.
    public func tellInterruption() {
        guard !report.isQuiet else { return }
        Console.note("\(report.program): interrupted: \(done.withLock { $0 }) of \(total) \(deed)")
    }
}
