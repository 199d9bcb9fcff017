import Alcedo
import ExampleSupport

/// What became of many images that files were made of.
struct FileSummary: Sendable {
    /// By the image's index.
    private(set) var problems: [Int: String] = [:]
    private var written = 0
    private var bytesIn = 0
    private var bytesOut = 0
    private var losses: [Loss: Int] = [:]

    mutating func add(_ made: MadeImage) {
        written += 1
        bytesIn += made.bytesIn
        bytesOut += made.bytesOut
        for loss in made.losses { losses[loss, default: 0] += 1 }
    }

    mutating func add(problem: String, of index: Int) { problems[index] = problem }

    /// - Parameter title: What the files are.
    func text(_ title: String, in duration: Duration) -> String {
        let lost = Loss.allCases.compactMap { loss in losses[loss].map { "\(loss.words) of \($0)" } }
        return "\(title): \(written) written, \(problems.count) failed, \(bytesIn) bytes in, \(bytesOut) bytes out, "
            + "\(RunTime(duration).text(for: written))\n"
            + (lost.isEmpty ? "" : "not kept: \(lost.joined(separator: ", "))\n")
    }
}
