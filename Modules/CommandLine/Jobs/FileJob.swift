import Alcedo
import AlcedoProgramSupport
import AlcedoRuntime

/// A job that writes files of many images.
struct FileJob: Sendable {
    /// The word that begins the summary, such as "converted".
    let title: String
    let images: ImageList
    let configuration: ImagePipeline.Configuration
    let destination: OutputDestination
    let maker: any FileMaking
    /// The maximum number of bytes that an encoder, and the encoded bytes, hold at once. Default: no limit.
    var encodingLimit = Int.max
    /// The maximum duration of making the files of one image, after its bytes were received. Default: no limit.
    var timeout: Duration?
    /// The maximum number of images processed at once. Default: 8.
    var maxConcurrentImages = 8
    /// Whether existing files are replaced, unless they are among the input images.
    var replaces = false
    var report: JobReport
    /// The interruption, after which no further image is started.
    var interruption: Interruption?
    /// The counter of the images whose files were written.
    var tally: RunTally?
    /// The clock that measures the duration of the run. Default: the system's clock.
    var clock: any TimeSource = SystemClock()

    private enum Target: Sendable {
        case standardOutput
        case file(OutputDirectory, name: String)
        case directory(OutputDirectory)
        case none
    }

    /// Runs the job. Prints a summary to standard output, unless the files are written there, and one line for each
    /// problem to standard error. In JSON mode, prints the result of each file instead of the summary; the error of an
    /// image is part of its result. The failure of one image does not affect the others.
    ///
    /// - Returns: Whether all images succeeded without an interruption, and the disk cache reported no write error.
    func run() async -> Bool {
        let start = clock.uptime
        let files = BlockingExecutor(name: "alcedo.files", maxConcurrent: configuration.maxConcurrentDecodes)
        let target: Target
        let names: FileNames
        do {
            names = try await files.run {
                FileNames(
                    of: images, sizes: maker.sizes, pattern: destination.pattern, fileExtension: maker.fileExtension)
            }
            target = try await files.run { try self.target(names) }
        } catch {
            if !(interruption?.isRequested ?? false) { report.problem("\(error)") }
            return false
        }
        let layers = LayerObserver()
        var configuration = configuration
        // A memory cache has no use, because each image is loaded once.
        configuration.memoryCache = nil
        configuration.observers = [layers]
        let transfers = TransferProgressObserver(configuration.downloader)
        configuration.downloader = transfers
        let pipeline = ImagePipeline(configuration)
        let memory = ByteBudget(limit: configuration.maximumDecodingByteCount)
        let concurrency = configuration.maxConcurrentDecodes
        let tools = FileTools(
            pipeline: pipeline, codecs: configuration.codecs, layers: layers, transfers: transfers, files: files,
            memory: memory, encodingLimit: encodingLimit,
            conversions: ImageConversionQueue(maxConcurrentConversions: concurrency, sharing: memory),
            timeLimit: TimeLimit(timeout, clock: clock, maxConcurrentImages: concurrency))
        let batch = BatchLoad(
            images, maxConcurrentLoads: maxConcurrentImages, interruption: interruption,
            showsProgress: report.showsProgress)
        var summary = FileSummary()
        await batch.run { request, index, progress in
            let sink = try await files.run { try self.sink(to: target, names, index) }
            let written = try await tools.forgettingDamage(of: request) {
                try await maker.make(request, with: tools, into: sink, progress: progress)
            }
            // Separate files are complete already. Waiting for the executor here would let an interruption hide that
            // they were written.
            if !sink.writesSeparateFiles { try await files.run { try sink.finish() } }
            return written
        } onResult: { index, result in
            record(result, index, &summary)
        }
        await pipeline.flush()
        // Another program may have removed files since they were written. They must not count as written.
        let paths = summary.paths
        for (index, path) in (try? await files.run { paths.filter { FileIdentity(linkAt: $0.path) == nil } }) ?? [] {
            let problem = "\(path) was written, and removed by another program during the run"
            summary.add(removal: problem, of: index)
            var line = ResultLine(input: images[index].path)
            line.error = problem
            report.printResult(line)
        }
        if !report.isJSON {
            for (index, problem) in summary.problems.sorted(by: { $0.key < $1.key }) {
                report.problem("\(images[index].name): \(problem)")
            }
        }
        guard !batch.isInterrupted else { return false }
        for message in layers.errors.messages { report.problem(message) }
        if case .standardOutput = destination {
        } else {
            report.printText(summary.text(title, in: clock.uptime - start))
        }
        return summary.problems.isEmpty && layers.errors.messages.isEmpty
    }

    /// Creates the output directory and returns the target of the files. Throws ``OutputError`` if a file exists that
    /// must not be replaced, or if the directory cannot be created or written.
    private func target(_ names: FileNames) throws -> Target {
        let (path, name): (String, String?)
        switch destination {
        case .standardOutput: return .standardOutput
        case .sharedThumbnails: return .none
        case .file(let file): (path, name) = OutputDirectory.split(file)
        case .directory(let directory): (path, name) = (directory, nil)
        case .pattern(let pattern, _): (path, name) = (OutputDirectory.split(pattern).directory, nil)
        }
        let directory = OutputDirectory(path, replaces: replaces, sparing: images.files())
        let all = name.map { [$0] } ?? names.all(in: path, hasFrames: maker.makesFrames)
        try directory.prepare(for: all)
        return name.map { .file(directory, name: $0) } ?? .directory(directory)
    }

    private func sink(to target: Target, _ names: FileNames, _ index: Int) throws -> OutputSink {
        let sinkTarget: OutputSink.Target =
            switch target {
            case .standardOutput: .standardOutput
            case .file(let directory, let name): .file(try directory.file(named: name), path: directory.path(of: name))
            case .directory(let directory): .directory(directory)
            case .none: .none
            }
        return OutputSink(target: sinkTarget, names: names, index: index)
    }

    private func record(_ result: Result<WrittenImage, any Error>, _ index: Int, _ summary: inout FileSummary) {
        let image = images[index]
        var line = ResultLine(input: image.path)
        switch result {
        case .success(let written):
            if written.isComplete {
                let isSeen = if case .standardOutput = destination { false } else { true }
                let paths = isSeen ? written.files.filter { !$0.isKept }.map(\.path) : []
                summary.add(written, index, paths: paths)
                tally?.add()
            }
            (line.layer, line.byteCount, line.damage) = (written.layer, written.bytesIn, written.damage)
            report.damage(written.damage, of: image.name)
            for file in written.files {
                (line.frame, line.output, line.size) = (file.frame, file.path, file.size)
                line.lost = file.losses.map(\.rawValue)
                report.printResult(line)
            }
            let losses = written.losses.filter { !$0.isCommon }.map(\.words)
            if maker.reportsLosses, !losses.isEmpty {
                report.notice("\(image.name): not kept: \(losses.joined(separator: ", "))")
            }
        case .failure(let error):
            let problem = image.problem(error)
            summary.add(problem: problem, of: index)
            line.error = problem
            report.printResult(line)
        }
    }
}

/// The totals of a job, and its problems.
private struct FileSummary: Sendable {
    /// The problems by the index of the image.
    private(set) var problems: [Int: String] = [:]
    /// The files that were written, with the indices of their images.
    private(set) var paths: [(index: Int, path: String)] = []
    private var written = 0
    private var kept = 0
    private var bytesIn = 0
    private var bytesOut = 0
    private var losses: [Loss: Int] = [:]

    mutating func add(_ image: WrittenImage, _ index: Int, paths: [String]) {
        self.paths += paths.map { (index, $0) }
        if image.isKept { kept += 1 } else { written += 1 }
        bytesIn += image.bytesIn
        bytesOut += image.files.reduce(0) { $0 + $1.byteCount }
        for loss in image.losses { losses[loss, default: 0] += 1 }
    }

    mutating func add(problem: String, of index: Int) { problems[index] = problem }

    /// Adds the problem of a written file that is gone.
    mutating func add(removal: String, of index: Int) {
        if problems[index] == nil { written -= 1 }
        problems[index] = removal
    }

    /// Returns the summary as text.
    ///
    /// - Parameters:
    ///   - title: The word that begins the summary.
    ///   - duration: The duration of the job.
    func text(_ title: String, in duration: Duration) -> String {
        let lost = Loss.allCases.compactMap { loss in losses[loss].map { "\(loss.words) of \($0)" } }
        return "\(title): \(written) written, \(problems.count) failed, \(kept > 0 ? "\(kept) kept, " : "")"
            + "\(bytesIn) bytes in, \(bytesOut) bytes out, \(RunDuration(duration).text(for: written))\n"
            + (lost.isEmpty ? "" : "not kept: \(lost.joined(separator: ", "))\n")
    }
}
