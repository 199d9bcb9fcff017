import Alcedo
import AlcedoProgramSupport
import AlcedoRuntime

/// Makes files of each of many images.
struct FileJob: Sendable {
    /// What the files are, for the summary.
    let title: String
    let images: ImageList
    let configuration: ImagePipeline.Configuration
    let place: FilePlace
    let maker: any FileMaking
    /// Most images that are worked on at once.
    var width = 8
    /// Whether files of the same names go, unless they are among the images.
    var replaces = false
    var report: JobReport
    /// When it has come nothing more is made.
    var interruption: Interruption?
    /// Counts the images that files have been made of.
    var tally: RunTally?

    private enum Target: Sendable {
        case standardOutput
        case file(OutputFolder, name: String)
        case folder(OutputFolder)
    }

    private struct Outcome: Sendable {
        var made: MadeImage
        var sink: FileSink
    }

    /// Runs the job. A summary goes to standard output, each problem is a line on standard error.
    ///
    /// - Returns: Whether everything went well. An image that fails does not keep the others from their files.
    func run() async -> Bool {
        let start = ContinuousClock.now
        let files = BlockingExecutor(name: "alcedo.files", width: configuration.maxConcurrentDecodes)
        let target: Target
        let names: FileNames
        do {
            names = try await files.run { FileNames(of: images, fileExtension: maker.fileExtension) }
            target = try await files.run { try self.target(names) }
        } catch {
            if !(interruption?.hasCome ?? false) { report.problem("\(error)") }
            return false
        }
        let layers = LayerObserver()
        var configuration = configuration
        // Each image is loaded once.
        configuration.memoryCache = nil
        configuration.observers = [layers]
        let transfers = TransferWatch(configuration.downloader)
        configuration.downloader = transfers
        let pipeline = ImagePipeline(configuration)
        let tools = FileTools(
            pipeline: pipeline, codecs: configuration.codecs, layers: layers, transfers: transfers, files: files)
        let batch = BatchLoad(images, width: width, interruption: interruption, showsProgress: report.showsProgress)
        var summary = FileSummary()
        await batch.run { request, index, progress in
            let sink = try await files.run { try self.sink(to: target, names, index) }
            let made = try await maker.make(request, with: tools, into: sink, progress: progress)
            // An interruption that comes here must not conceal what is there.
            if !sink.keepsEach { try await files.run { try sink.finish() } }
            return Outcome(made: made, sink: sink)
        } onResult: { index, result in
            tell(result, index, &summary)
        }
        await pipeline.flush()
        if !report.isJSON {
            for (index, problem) in summary.problems.sorted(by: { $0.key < $1.key }) {
                report.problem("\(images[index].name): \(problem)")
            }
        }
        guard !batch.isInterrupted else { return false }
        for trouble in layers.troubles.messages { report.problem(trouble) }
        if case .standardOutput = place {} else { report.say(summary.text(title, in: ContinuousClock.now - start)) }
        return summary.problems.isEmpty && layers.troubles.messages.isEmpty
    }

    /// Looks whether there is anything in the way of the files.
    private func target(_ names: FileNames) throws -> Target {
        let (path, name): (String, String?)
        switch place {
        case .standardOutput: return .standardOutput
        case .file(let file): (path, name) = OutputFolder.split(file)
        case .folder(let folder): (path, name) = (folder, nil)
        }
        let folder = OutputFolder(path, replaces: replaces, sparing: images.files())
        let all = name.map { [$0] } ?? names.all(in: path, hasFrames: maker.makesFrames)
        try folder.prepare(for: all)
        return name.map { .file(folder, name: $0) } ?? .folder(folder)
    }

    private func sink(to target: Target, _ names: FileNames, _ index: Int) throws -> FileSink {
        let place: FileSink.Target =
            switch target {
            case .standardOutput: .standardOutput
            case .file(let folder, let name): .file(try folder.file(named: name), path: folder.path(of: name))
            case .folder(let folder): .folder(folder)
            }
        return FileSink(target: place, names: names, index: index)
    }

    private func tell(_ result: Result<Outcome, any Error>, _ index: Int, _ summary: inout FileSummary) {
        let image = images[index]
        var line = ResultLine(input: image.path)
        switch result {
        case .success(let outcome):
            let (made, sink) = (outcome.made, outcome.sink)
            if made.isWhole {
                summary.add(made)
                tally?.add()
            }
            (line.size, line.layer, line.byteCount) = (made.size, made.layer, made.bytesIn)
            line.lost = made.losses.map(\.rawValue)
            for frame in made.frames {
                (line.frame, line.output) = (frame, sink.path(frame: frame))
                report.tell(line)
            }
            let losses = made.losses.filter { !$0.isUsual }.map(\.words)
            if maker.tellsLosses, !losses.isEmpty {
                report.note("\(image.name): not kept: \(losses.joined(separator: ", "))")
            }
        case .failure(let error):
            let problem = image.withoutPassword("\(error)")
            summary.add(problem: problem, of: index)
            line.error = problem
            report.tell(line)
        }
    }
}

/// What became of many images that files were made of.
private struct FileSummary: Sendable {
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
