import Alcedo

/// How many of its images a run has done, for the word that a person gets who breaks it off.
public final class RunTally: Sendable {
    private let total: Int
    private let deed: String
    private let report: JobReport
    private let tellsOfAll: Bool
    private let done = Locked(0)

    /// - Parameters:
    ///   - deed: What has become of an image that counts, such as "written".
    ///   - tellsOfAll: Whether there is something to say when that has become of all of them.
    public init(of total: Int, _ deed: String, _ report: JobReport, tellsOfAll: Bool = true) {
        (self.total, self.deed, self.report, self.tellsOfAll) = (total, deed, report, tellsOfAll)
    }

    public func add() { done.withLock { $0 += 1 } }

    /// Says how far the run has come. For scripts too: their lines tell nothing of those that are missing.
    public func tellInterruption() {
        let done = done.withLock { $0 }
        guard !report.isQuiet, tellsOfAll || done < total else { return }
        Console.note("\(report.program): interrupted: \(done) of \(total) \(deed)")
    }
}
