package import Alcedo
import AlcedoRuntime

/// Loads many images at once through one pipeline, tells how it went, and draws a contact sheet.
package struct LoadJob: Sendable {
    /// Most pictures on the contact sheet, which is in memory as a whole.
    private static let sheetLimit = 400
    private static let sheetName = "contact-sheet.png"

    package var images: ImageList
    /// The caches are in here, so that a second pass finds what the first has stored.
    package var configuration: ImagePipeline.Configuration
    /// Longest side of the images, in pixels; nil leaves them as they are.
    package var longestSide: Int?
    /// What is done to the images then, in order.
    package var processors: [any ImageProcessing] = []
    /// Where the contact sheet goes, and the images as PNG when ``writesImages``.
    package var outputDirectory: String
    package var writesImages = false
    package var drawsSheet = true
    /// Whether files of the names of results go, unless they are among the images.
    package var replaces = false
    /// How often the list is loaded.
    package var passes = 1
    /// Most loads at once, each of which may hold a decoded image. The downloader has a limit of its own. Default: 16.
    package var maxConcurrentLoads = 16
    package var report: JobReport
    /// When it has come no more loads begin, and nothing is reported or written but what is to be found by the next run.
    package var interruption: Interruption?
    /// Counts the loads that went well.
    package var tally: RunTally?

    package init(
        images: ImageList, configuration: ImagePipeline.Configuration, outputDirectory: String, report: JobReport
    ) {
        self.images = images
        self.configuration = configuration
        self.outputDirectory = outputDirectory
        self.report = report
    }

    /// Runs the job. Results go to standard output, problems to standard error, one line each.
    ///
    /// - Returns: Whether everything went well. An image that fails does not keep the others from loading.
    package func run() async -> Bool {
        let files = BlockingExecutor(name: "alcedo.files", width: 1)
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
        /// Why the image, which was loaded, is not in the output directory.
        var writingProblem: String?
    }

    private typealias Loaded = (
        response: ImageResponse, cellImage: DecodedImage?, writing: Result<String?, OutputError>
    )

    /// - Parameters:
    ///   - isFirst: Whether pictures are to be fitted and images written, which is done once.
    ///   - draw: Receives the images fitted for the sheet. The originals are released.
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
                if let cellImage = loaded.cellImage { draw(index, cellImage) }
                switch loaded.writing {
                case .success(let path): line.output = path
                case .failure(let error):
                    outcome.writingProblem = "\(image.name): \(error)"
                    line.error = error.description
                }
            case .failure(let error): line.error = image.withoutPassword("\(error)")
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
            }.mapError { LoadedRow.Problem(image.withoutPassword("\($0)")) })
    }

    /// Writes the image where that is wanted, and fits it for the sheet while there is room.
    private func use(_ response: ImageResponse, _ index: Int, in directory: OutputDirectory) throws -> Loaded {
        let isOnSheet = drawsSheet && index < Self.sheetLimit
        let cellImage = isOnSheet ? try ContactSheet.Grid().cellImage(of: response.image) : nil
        guard writesImages else { return (response, cellImage, .success(nil)) }
        do {
            let data = try PNGEncoder().encode(response.image)
            return (response, cellImage, .success(try directory.write(data, named: fileName(index))))
        } catch {
            return (response, cellImage, .failure(error as? OutputError ?? OutputError(description: "\(error)")))
        }
    }

    private func sized(_ request: ImageRequest, _ index: Int) -> ImageRequest {
        var request = LoadTimes.marked(request, index)
        if let longestSide {
            let size = PixelSize(width: longestSide, height: longestSide)
            request.decoding.target = TargetSize(size)
            request.processors.append(.resize(fitting: size))
        }
        request.processors += processors
        return request
    }

    /// Says what became of the images; returns whether all is well.
    private func printOutcomes(_ outcomes: [Outcome], in duration: Duration) -> Bool {
        if !report.isQuiet, !report.isJSON {
            var table = LoadTable()
            for outcome in outcomes { table.append(outcome.row, isMissing: outcome.writingProblem != nil) }
            report.printText(table.text + table.summary(in: duration))
        }
        return printProblems(outcomes)
    }

    /// Returns whether there are none.
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
                try directory.write(PNGEncoder().encode(sheet.image), named: Self.sheetName)
            }
            let shown = min(images.count, Self.sheetLimit)
            let part = shown < images.count ? " (the first \(shown) of \(images.count))" : ""
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

    /// The files that the job may write.
    private func resultNames() -> [String] {
        (drawsSheet ? [Self.sheetName] : []) + (writesImages ? images.indices.map(fileName) : [])
    }

    /// A name that no other image of the job has, and that is safe whatever the URL holds.
    private func fileName(_ index: Int) -> String { "\(index + 1)-\(images[index].safeName.text).png" }
}

/// Times loads, each from its beginning to its end.
private final class LoadTimes: ImageLoadInterceptor {
    private static let field = "index"

    private let times = Locked<[Int: Duration]>([:])

    /// The request, with the index that its time is kept under.
    static func marked(_ request: ImageRequest, _ index: Int) -> ImageRequest {
        var request = request
        request.userInfo[field] = index
        return request
    }

    /// Of the last load with this index that went well.
    subscript(index: Int) -> Duration { times.withLock { $0[index] ?? .zero } }

    func load(
        _ request: ImageRequest, next: @Sendable (ImageRequest) async throws -> ImageResponse
    ) async throws -> ImageResponse {
        let start = ContinuousClock.now
        let response = try await next(request)
        if let index = request.userInfo[Self.field] as? Int {
            times.withLock { $0[index] = ContinuousClock.now - start }
        }
        return response
    }
}
