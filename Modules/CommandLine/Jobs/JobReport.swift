import Alcedo
import AlcedoProgramSupport
import AlcedoRuntime

/// The output of a job: text for people, or one line of JSON for each result. Problems are reported in every mode.
struct JobReport: Sendable {
    /// The name of the program, which begins each problem.
    var program: String
    /// Whether the output is JSON, one object a line. The object of a failed image holds its error.
    var isJSON = false
    /// Whether summaries, notices and progress are left out.
    var isQuiet = false

    init(program: String) { self.program = program }

    /// Whether a progress line may be shown. False in quiet mode, if standard error is not a terminal that can rewrite
    /// a line, and if JSON goes to a terminal, which is probably the same one.
    var showsProgress: Bool { !isQuiet && Console.errorIsLive && !(isJSON && Console.outputIsTerminal) }

    /// Prints text for people, such as a summary. Prints nothing in JSON or quiet mode.
    func printText(_ text: String) {
        if !isQuiet, !isJSON { Console.output(text) }
    }

    /// Prints an informational message to standard error. Prints nothing in JSON or quiet mode.
    func notice(_ text: String) {
        if !isQuiet, !isJSON { Console.notice("\(program): \(text)") }
    }

    /// Prints a problem to standard error, in every mode.
    func problem(_ text: String) { Console.problem("\(program): \(text)", clears: showsProgress) }

    /// Prints the damage of an image that was tolerated: in quiet mode only if pixels are wrong or missing, and not in
    /// JSON mode, in which the result has it.
    func damage(_ damage: ImageDamage?, of name: String) {
        guard let damage, !isJSON else { return }
        let text = "\(name): \(ProblemText.text(damage.text))"
        if damage.kind == .harmless { notice(text) } else { problem(text) }
    }

    /// Prints the result of one image, or of one output file, in JSON mode.
    func printResult(_ result: ResultLine) { printObject(result.object) }

    /// Prints the number of files in directories that are not images.
    ///
    /// - Parameter isNotice: Whether text goes to standard error, because files are written to standard output.
    func printSkipped(_ images: ImageList, asNotice isNotice: Bool = false) {
        for skipped in images.skipped {
            let name = Console.printable(skipped.directory)
            var line = ResultLine(input: skipped.directory)
            line.skipped = skipped.count
            printResult(line)
            let text = "skipped: \(skipped.count) \(skipped.count == 1 ? "file" : "files") in \(name), not images"
            if isNotice { notice(text) } else { printText(text + "\n") }
        }
    }

    /// Prints one object in JSON mode.
    func printObject(_ object: some Encodable) {
        guard isJSON, let line = try? JSONLine.text(of: object) else { return }
        Console.output(line)
    }
}

/// The JSON result of one image, or of one output file.
struct ResultLine: Sendable {
    /// The argument that names the image, without a password, or nil for a file made of all images.
    var input: String?
    /// The path of the output file, or nil if none was written.
    var output: String?
    /// The index of the frame that the file holds, or nil if the file is not one frame of an animation or was not
    /// written.
    var frame: Int?
    /// The size in pixels of the loaded or written image, or nil if the load failed.
    var size: PixelSize?
    /// The number of encoded bytes read, or nil for an image from memory, after a failed load, and for a file made of
    /// all images.
    var byteCount: Int?
    /// The layer that the image came from, or nil after a failed load and for a file made of all images.
    var layer: ImageResponse.Layer?
    /// The properties of the image that the file lacks, or nil if they were not compared.
    var lost: [String]?
    /// The damage of the file that was tolerated, or nil if none was found.
    var damage: ImageDamage?
    /// The number of files below a directory that are not images, or nil for an image.
    var skipped: Int?
    /// The error, or nil on success.
    var error: String?

    init(input: String?) { self.input = input }

    /// The object with every key, with null for unknown values, so that scripts need no test for a missing key.
    var object: [String: JSONValue] {
        [
            "input": .init(input), "output": .init(output), "frame": .init(frame), "width": .init(size?.width),
            "height": .init(size?.height), "bytes": .init(byteCount), "layer": .init(layer?.rawValue),
            "lost": lost.map { .texts($0) } ?? .null, "damage": .init(damage?.kindName),
            "damageMessage": .init(damage?.message), "skipped": .init(skipped), "error": .init(error),
        ]
    }
}

/// The number of images that a run has completed, for the message after an interruption.
final class RunTally: Sendable {
    private let total: Int
    private let verb: String
    private let report: JobReport
    private let reportsCompletion: Bool
    private let done = Locked(0)

    /// Creates a tally.
    ///
    /// - Parameters:
    ///   - total: The number of images of the run.
    ///   - verb: The past participle in the message, such as "written".
    ///   - report: The report that decides whether the message is printed.
    ///   - reportsCompletion: Whether the message is printed even if all images are complete. Default: true.
    init(of total: Int, _ verb: String, _ report: JobReport, reportsCompletion: Bool = true) {
        (self.total, self.verb, self.report, self.reportsCompletion) = (total, verb, report, reportsCompletion)
    }

    func add() { done.withLock { $0 += 1 } }

    /// Prints the number of completed images to standard error. Prints nothing in quiet mode, or if all images are
    /// complete and the tally does not report completion. Also prints in JSON mode, because the lines of the results do
    /// not show which images are missing.
    func printInterruption() {
        let done = done.withLock { $0 }
        guard !report.isQuiet, reportsCompletion || done < total else { return }
        Console.notice("\(report.program): interrupted: \(done) of \(total) \(verb)")
    }
}

/// The duration of a run, formatted for a summary.
struct RunDuration: Sendable {
    private let seconds: Double

    init(_ duration: Duration) { seconds = max(duration / .seconds(1), 0.001) }

    var text: String { "\(Self.hundredths(seconds)) s" }

    /// Returns the duration and the number of images per second.
    func text(for count: Int) -> String {
        "\(text), \(Self.hundredths(Double(count) / seconds)) images/s"
    }

    private static func hundredths(_ value: Double) -> Double { (value * 100).rounded() / 100 }
}

/// An observer that records the errors of disk cache writes, which do not fail a load. Each message is kept once.
final class ErrorObserver: PipelineObserving {
    private let found = Locked<[String]>([])

    var messages: [String] { found.withLock { $0 } }

    func pipelineDidReport(_ event: PipelineEvent) {
        guard case .diskWriteFailed(let error) = event.stage else { return }
        let message = ProblemText.text("\(error)")
        found.withLock { found in
            if !found.contains(message) { found.append(message) }
        }
    }
}
