import Alcedo
import AlcedoProgramSupport
import AlcedoRuntime

/// A job that loads many images through one pipeline, reports the results and draws a contact sheet.
struct LoadJob: Sendable {
    /// The maximum number of images on the contact sheet, which is in memory as a whole.
    private static let sheetLimit = 400
    private static let sheetName = "contact-sheet.png"

    var images: ImageList
    /// The configuration of the pipeline. All passes share its caches.
    var configuration: ImagePipeline.Configuration
    /// The maximum width and height of the images in pixels, or nil for their own size.
    var longestSide: Int?
    /// The processors applied after resizing, in order.
    var processors: [any ImageProcessing] = []
    /// The directory of the contact sheet, and of the images as PNG if ``writesImages`` is true.
    var outputDirectory: String
    var writesImages = false
    var drawsSheet = true
    /// Whether existing files are replaced, unless they are among the input images.
    var replaces = false
    /// The number of times that the list is loaded. Default: 1.
    var passes = 1
    /// The maximum number of concurrent loads, each of which may hold a decoded image. The downloader has its own
    /// limit. Default: 16.
    var maxConcurrentLoads = 16
    var report: JobReport
    /// The interruption, after which no load starts and no table or contact sheet is written. The disk cache still
    /// stores the received bytes, so that the next run finds them.
    var interruption: Interruption?
    /// The counter of successful loads.
    var tally: RunTally?

    /// Runs the job. Prints results to standard output and one line for each problem to standard error. In JSON mode,
    /// the error of an image is part of its result. The failure of one image does not affect the others.
    ///
    /// - Returns: Whether all images and files succeeded without an interruption, and the disk cache reported no write
    ///   error.
    func run() async -> Bool {
        let files = BlockingExecutor(name: "alcedo.files", maxConcurrent: 1)
        let directory: OutputDirectory
        do {
            directory = try await files.run {
                let directory = OutputDirectory(outputDirectory, replaces: replaces, sparing: images.files())
                if drawsSheet || writesImages { try directory.prepare(for: resultNames()) }
                return directory
            }
        } catch {
            if !isInterrupted { report.problem("\(error)") }
            return false
        }
        let errors = ErrorObserver()
        let times = LoadTimes()
        var configuration = configuration
        configuration.observers = [errors]
        configuration.interceptors.insert(times, at: 0)
        let pipeline = ImagePipeline(configuration)
        var succeeded = true
        var sheet = drawsSheet ? ContactSheet(ContactSheet.Grid(), count: min(images.count, Self.sheetLimit)) : nil
        var hasCellImages = false
        for pass in 1...max(1, passes) {
            if passes > 1 { report.printText("pass \(pass) of \(passes)\n") }
            let start = ContinuousClock.now
            let outcomes = await load(with: pipeline, isFirst: pass == 1, times, directory, on: files) {
                sheet?.draw($1, at: $0)
                hasCellImages = true
            }
            guard !isInterrupted else {
                _ = printProblems(outcomes)
                break
            }
            succeeded = printOutcomes(outcomes, in: ContinuousClock.now - start) && succeeded
        }
        await pipeline.flush()
        guard !isInterrupted else { return false }
        for message in errors.messages {
            report.problem(message)
            succeeded = false
        }
        guard hasCellImages, let sheet else { return succeeded }
        return await write(sheet, to: directory, on: files) && succeeded
    }

    private var isInterrupted: Bool { interruption?.isRequested ?? false }

    private struct Outcome: Sendable {
        var row: LoadedRow
        /// The reason why a loaded image was not written to the output directory.
        var writingProblem: String?
    }

    private typealias Loaded = (
        response: ImageResponse, cellImage: DecodedImage?, writing: Result<String?, OutputError>
    )

    /// Loads the list once and returns the outcomes in the order of the list. Images that were not loaded because of an
    /// interruption have no outcome.
    ///
    /// - Parameters:
    ///   - pipeline: The pipeline.
    ///   - isFirst: Whether this is the first pass, in which images are written and drawn.
    ///   - times: The interceptor that measures the loads.
    ///   - directory: The output directory.
    ///   - files: The executor on which images are drawn and written.
    ///   - draw: Receives the cell images of the contact sheet. The original images are released.
    private func load(
        with pipeline: ImagePipeline, isFirst: Bool, _ times: LoadTimes, _ directory: OutputDirectory,
        on files: BlockingExecutor, draw: (_ index: Int, DecodedImage) -> Void
    ) async -> [Outcome] {
        let batch = BatchLoad(
            images, maxConcurrentLoads: maxConcurrentLoads, interruption: interruption,
            showsProgress: report.showsProgress)
        var outcomes = [Outcome?](repeating: nil, count: images.count)
        await batch.run { request, index, progress in
            let response = try await pipeline.load(sized(request, index), progress: progress)
            guard isFirst else { return Loaded(response, nil, .success(nil)) }
            return try await files.run { try use(response, index, in: directory) }
        } onResult: { index, result in
            let image = images[index]
            var line = ResultLine(input: image.path)
            var outcome = Outcome(row: row(index, image, result.map(\.response), times))
            switch result {
            case .success(let loaded):
                tally?.add()
                (line.size, line.layer) = (loaded.response.image.size, loaded.response.layer)
                line.byteCount = loaded.response.encodedByteCount
                line.damage = loaded.response.image.damage
                report.damage(line.damage, of: image.name)
                if let cellImage = loaded.cellImage { draw(index, cellImage) }
                switch loaded.writing {
                case .success(let path): line.output = path
                case .failure(let error):
                    outcome.writingProblem = "\(image.name): \(error)"
                    line.error = error.description
                }
            case .failure(let error): line.error = image.problem(error)
            }
            outcomes[index] = outcome
            report.printResult(line)
        }
        return outcomes.compactMap { $0 }
    }

    private func row(
        _ index: Int, _ image: ImageArgument, _ result: Result<ImageResponse, any Error>, _ times: LoadTimes
    ) -> LoadedRow {
        LoadedRow(
            name: image.name,
            result: result.map { response in
                LoadedRow.Details(
                    layer: response.layer, format: response.image.format, size: response.image.size,
                    byteCount: response.encodedByteCount, duration: times[index])
            }.mapError { LoadedRow.Problem(image.problem($0)) })
    }

    /// Writes the image if ``writesImages`` is true, and makes its cell image if it is on the contact sheet. The error
    /// of a failed write is part of the result.
    private func use(_ response: ImageResponse, _ index: Int, in directory: OutputDirectory) throws -> Loaded {
        let isOnSheet = drawsSheet && index < Self.sheetLimit
        let cellImage = isOnSheet ? try ContactSheet.Grid().cellImage(of: response.image) : nil
        guard writesImages else { return (response, cellImage, .success(nil)) }
        do {
            var image = response.image
            // An animation may have any number of frames, and its file any size.
            image.frames = nil
            let data = try ImageEncoder.png().encode(image)
            return (response, cellImage, .success(try directory.write(data, named: fileName(index))))
        } catch {
            // An error of the directory names the file already. Any other one is of the encoder.
            let problem = error as? OutputError ?? OutputError(description: ProblemText.text("\(error)"))
            return (response, cellImage, .failure(problem))
        }
    }

    private func sized(_ request: ImageRequest, _ index: Int) -> ImageRequest {
        var request = LoadTimes.marked(request, index)
        if let longestSide {
            let size = PixelSize(width: longestSide, height: longestSide)
            request.processors.append(.resize(fitting: size))
        }
        request.processors += processors
        return request
    }

    /// Prints the table, the summary and the problems. Returns whether there is no problem.
    private func printOutcomes(_ outcomes: [Outcome], in duration: Duration) -> Bool {
        if !report.isQuiet, !report.isJSON {
            var table = LoadTable()
            for outcome in outcomes { table.append(outcome.row, isMissing: outcome.writingProblem != nil) }
            report.printText(table.text + table.summary(in: duration))
        }
        return printProblems(outcomes)
    }

    /// Prints the problems and returns whether there is none.
    private func printProblems(_ outcomes: [Outcome]) -> Bool {
        let failures = outcomes.compactMap { outcome in
            if case .failure(let problem) = outcome.row.result { return "\(outcome.row.name): \(problem)" }
            return nil
        }
        let problems = failures + outcomes.compactMap(\.writingProblem)
        if !report.isJSON { for problem in problems { report.problem(problem) } }
        return problems.isEmpty
    }

    private func write(_ sheet: ContactSheet, to directory: OutputDirectory, on files: BlockingExecutor) async -> Bool {
        do {
            let path = try await files.run {
                try directory.write(ImageEncoder.png().encode(sheet.image), named: Self.sheetName)
            }
            let shown = min(images.count, Self.sheetLimit)
            let part = shown < images.count ? " (first \(shown) of \(images.count))" : ""
            report.printText("contact sheet: \(path)\(part)\n")
            var line = ResultLine(input: nil)
            (line.output, line.size) = (path, sheet.image.size)
            report.printResult(line)
            return true
        } catch {
            if !isInterrupted { report.problem("\(error)") }
            return false
        }
    }

    /// Returns the names of the files that the job may write.
    private func resultNames() -> [String] {
        (drawsSheet ? [Self.sheetName] : []) + (writesImages ? images.indices.map(fileName) : [])
    }

    /// Returns a name that is unique in the job and safe for any URL.
    private func fileName(_ index: Int) -> String { "\(index + 1)-\(images[index].safeName.text).png" }
}

/// An interceptor that measures the duration of loads.
private final class LoadTimes: ImageLoadInterceptor {
    private static let index = ImageRequest.UserInfo.Key<Int>("index")

    private let times = Locked<[Int: Duration]>([:])

    /// Returns the request with the index under which its duration is stored.
    static func marked(_ request: ImageRequest, _ index: Int) -> ImageRequest {
        var request = request
        request.userInfo[Self.index] = index
        return request
    }

    /// The duration of the last successful load with this index, or zero.
    subscript(index: Int) -> Duration { times.withLock { $0[index] ?? .zero } }

    func load(
        _ request: ImageRequest, next: @Sendable (ImageRequest) async throws -> ImageResponse
    ) async throws -> ImageResponse {
        let start = ContinuousClock.now
        let response = try await next(request)
        if let index = request.userInfo[Self.index] {
            times.withLock { $0[index] = ContinuousClock.now - start }
        }
        return response
    }
}
