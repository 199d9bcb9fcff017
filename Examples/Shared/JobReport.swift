import Alcedo

/// How a job tells what becomes of its images: as text for a person, as a line of JSON for each, or not at all. Problems
/// are told in any case.
public struct JobReport: Sendable {
    /// Who speaks when something is wrong.
    public var program: String
    /// One object a line; an image that fails is told there, and nowhere else.
    public var isJSON = false
    /// Nothing but problems and what was asked for.
    public var isQuiet = false

    public init(program: String) { self.program = program }

    /// Whether a progress line may be shown. Not where objects go to a terminal, very likely the same one.
    public var showsProgress: Bool { !isQuiet && Console.errorIsLive && !(isJSON && Console.outputIsTerminal) }

    /// For people: summaries.
    public func say(_ text: String) {
        if !isQuiet, !isJSON { Console.output(text) }
    }

    /// For people, while the job runs: what they may want to know, and is no problem.
    public func note(_ text: String) {
        if !isQuiet, !isJSON { Console.note("\(program): \(text)") }
    }

    /// Something that has failed.
    public func problem(_ text: String) { Console.problem("\(program): \(text)", clears: showsProgress) }

    /// For scripts: what became of one image, or of one file that was made of it.
    public func tell(_ result: ResultLine) { tell(object: result.object) }

    /// For scripts: one object.
    public func tell(object: some Encodable) {
        guard isJSON, let line = try? JSONLine.text(of: object) else { return }
        Console.output(line)
    }
}
