package import Alcedo
import AlcedoRuntime

/// How a job tells what becomes of its images: as text for a person, as a line of JSON for each, or not at all. Problems
/// are told in any case.
package struct JobReport: Sendable {
    /// Who speaks when something is wrong.
    package var program: String
    /// One object a line; an image that fails is told there, and nowhere else.
    package var isJSON = false
    /// Nothing but problems and what was asked for.
    package var isQuiet = false

    package init(program: String) { self.program = program }

    /// Whether a progress line may be shown. Not where objects go to a terminal, very likely the same one.
    package var showsProgress: Bool { !isQuiet && Console.errorIsLive && !(isJSON && Console.outputIsTerminal) }

    /// For people: summaries.
    package func printText(_ text: String) {
        if !isQuiet, !isJSON { Console.output(text) }
    }

    /// For people, while the job runs: what they may want to know, and is no problem.
    package func notice(_ text: String) {
        if !isQuiet, !isJSON { Console.notice("\(program): \(text)") }
    }

    /// Something that has failed.
    package func problem(_ text: String) { Console.problem("\(program): \(text)", clears: showsProgress) }

    /// For scripts: what became of one image, or of one file that was made of it.
    package func printResult(_ result: ResultLine) { printObject(result.object) }

    /// For scripts: one object.
    package func printObject(_ object: some Encodable) {
        guard isJSON, let line = try? JSONLine.text(of: object) else { return }
        Console.output(line)
    }
}

/// What a script is told of one image, or of one file that was made of it.
package struct ResultLine: Sendable {
    /// The image as it was named, without a password; nil for a file of all images.
    package var input: String?
    /// The file; nil where none was written.
    package var output: String?
    /// Which frame of an animation is in the file; nil for the image.
    package var frame: Int?
    /// Of what was made, in pixels; nil where nothing was.
    package var size: PixelSize?
    /// Encoded bytes that were read; nil for an image from memory.
    package var byteCount: Int?
    /// Which layer had the image; nil where it was not to be had.
    package var layer: ImageResponse.Layer?
    /// What the image has and the file has not; nil where nobody looked.
    package var lost: [String]?
    /// nil when all is well.
    package var error: String?

    package init(input: String?) { self.input = input }

    /// Every key is there, so that a script need not ask.
    var object: [String: JSONValue] {
        [
            "input": .init(input), "output": .init(output), "frame": .init(frame), "width": .init(size?.width),
            "height": .init(size?.height), "bytes": .init(byteCount), "layer": .init(layer?.rawValue),
            "lost": lost.map { .texts($0) } ?? .null, "error": .init(error),
        ]
    }
}

/// How many of its images a run has done, for the word that a person gets who breaks it off.
package final class RunTally: Sendable {
    private let total: Int
    private let verb: String
    private let report: JobReport
    private let reportsCompletion: Bool
    private let done = Locked(0)

    /// - Parameters:
    ///   - deed: What has become of an image that counts, such as "written".
    ///   - tellsOfAll: Whether there is something to say when that has become of all of them.
    package init(of total: Int, _ verb: String, _ report: JobReport, reportsCompletion: Bool = true) {
        (self.total, self.verb, self.report, self.reportsCompletion) = (total, verb, report, reportsCompletion)
    }

    package func add() { done.withLock { $0 += 1 } }

    /// Says how far the run has come. For scripts too: their lines tell nothing of those that are missing.
    package func printInterruption() {
        let done = done.withLock { $0 }
        guard !report.isQuiet, reportsCompletion || done < total else { return }
        Console.notice("\(report.program): interrupted: \(done) of \(total) \(verb)")
    }
}

/// How long a run took, in the words of a summary.
package struct RunDuration: Sendable {
    private let seconds: Double

    package init(_ duration: Duration) { seconds = max(duration / .seconds(1), 0.001) }

    package var text: String { "\(Self.hundredths(seconds)) s" }

    /// The time, and how many images a second that is.
    package func text(for count: Int) -> String {
        "\(text), \(Self.hundredths(Double(count) / seconds)) images a second"
    }

    private static func hundredths(_ value: Double) -> Double { (value * 100).rounded() / 100 }
}

/// Keeps what went wrong beside the loads themselves, each message once.
package final class ErrorObserver: PipelineObserving {
    private let found = Locked<[String]>([])

    package init() {}

    package var messages: [String] { found.withLock { $0 } }

    package func pipelineDidReport(_ event: PipelineEvent) {
        guard case .diskWriteFailed(let error) = event.stage else { return }
        let message = "\(error)"
        found.withLock { found in
            if !found.contains(message) { found.append(message) }
        }
    }
}
