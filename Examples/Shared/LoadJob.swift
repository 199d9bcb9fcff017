public import Alcedo
public import FoundationEssentials

/// Loads many images at once through one pipeline, tells how it went, and draws a contact sheet.
public struct LoadJob: Sendable {
    /// Most pictures on the contact sheet, which is in memory as a whole.
    private static let sheetLimit = 400

    /// Who speaks when something is wrong.
    public var program: String
    public var images: [ImageArgument]
    /// The caches are in here, so that a second pass finds what the first has stored.
    public var configuration: ImagePipeline.Configuration
    /// Longest side of the images, in pixels; nil leaves them as they are.
    public var longestSide: Int?
    /// What is done to the images then, in order.
    public var processors: [any ImageProcessing] = []
    /// Where the contact sheet goes, and the images as PNG when ``writesImages``.
    public var outputDirectory: URL
    public var writesImages = false
    /// How often the list is loaded.
    public var passes = 1
    /// Most loads at once, each of which may hold a decoded image. The downloader has a limit of its own. Default: 16.
    public var width = 16
    /// When it has come no more loads begin, and nothing is reported or written but what is to be found by the next run.
    public var interruption: Interruption?

    public init(
        program: String, images: [ImageArgument], configuration: ImagePipeline.Configuration, outputDirectory: URL
    ) {
        self.program = program
        self.images = images
        self.configuration = configuration
        self.outputDirectory = outputDirectory
    }

    /// Runs the job. Results go to standard output, problems to standard error, one line each.
    ///
    /// - Returns: Whether everything went well. An image that fails does not keep the others from loading.
    public func run() async -> Bool {
        let troubles = TroubleObserver()
        let times = LoadTimes()
        var configuration = configuration
        configuration.observer = troubles
        configuration.interceptors.insert(times, at: 0)
        let pipeline = ImagePipeline(configuration)
        var isGood = true
        var pictures: [DecodedImage?] = []
        for pass in 1...max(1, passes) {
            if passes > 1 { Console.output("pass \(pass) of \(passes)\n") }
            let start = ContinuousClock.now
            let outcomes = await load(with: pipeline, isFirst: pass == 1, times)
            guard !isInterrupted else { break }
            isGood = report(outcomes.map(\.row), in: ContinuousClock.now - start) && isGood
            pictures = pass == 1 ? outcomes.map(\.picture) : pictures
            for problem in outcomes.compactMap(\.writingProblem) {
                Console.problem("\(program): \(problem)")
                isGood = false
            }
        }
        await pipeline.flush()
        guard !isInterrupted else { return false }
        for trouble in troubles.messages {
            Console.problem("\(program): \(trouble)")
            isGood = false
        }
        return writeSheet(pictures) && isGood
    }

    private var inputs: Set<FileIdentity> { FileIdentity.inputs(of: images) }

    private var isInterrupted: Bool { interruption?.hasCome ?? false }

    private struct Outcome: Sendable {
        var row: LoadedRow
        /// Fitted for the contact sheet; the image itself is let go.
        var picture: DecodedImage?
        /// Why the image, which was loaded, is not in the output directory.
        var writingProblem: String?
    }

    /// - Parameter isFirst: Whether pictures are to be fitted and images written, which is done once.
    private func load(with pipeline: ImagePipeline, isFirst: Bool, _ times: LoadTimes) async -> [Outcome] {
        let drawing = BlockingExecutor(name: "alcedo.sheet", width: 1)
        let batch = BatchLoad(images: images, width: width, interruption: interruption, change: sized)
        var outcomes = [Outcome?](repeating: nil, count: images.count)
        await batch.run(with: pipeline) { index, result in
            var outcome = Outcome(row: row(index, result, times))
            if isFirst, let image = try? result.get().image { await use(image, index, &outcome, on: drawing) }
            outcomes[index] = outcome
        }
        return outcomes.compactMap { $0 }
    }

    private func row(
        _ index: Int, _ result: Result<ImageResponse, any Error>, _ times: LoadTimes
    ) -> LoadedRow {
        LoadedRow(
            name: images[index].name,
            result: result.map { response in
                LoadedRow.Facts(
                    layer: response.layer, format: response.image.format, size: response.image.size,
                    byteCount: response.encodedByteCount, duration: times[index])
            })
    }

    /// Writes the image where that is wanted, and fits it for the sheet while there is room.
    private func use(_ image: DecodedImage, _ index: Int, _ outcome: inout Outcome, on drawing: BlockingExecutor) async
    {
        let name = Self.fileName(index, images[index].name)
        do {
            outcome.picture = try await drawing.run {
                if writesImages { try write(image, named: name) }
                return index < Self.sheetLimit ? try ContactSheet.Grid().picture(of: image) : nil
            }
        } catch {
            outcome.writingProblem = "\(images[index].name): \(error)"
        }
    }

    private func sized(_ request: ImageRequest, _ index: Int) -> ImageRequest {
        var request = LoadTimes.marked(request, index)
        if let longestSide {
            let size = PixelSize(width: longestSide, height: longestSide)
            request.decoding.target = TargetSize(size)
            request.processors.append(Resize(to: size))
        }
        request.processors += processors
        return request
    }

    private func report(_ rows: [LoadedRow], in duration: Duration) -> Bool {
        var table = LoadTable()
        for row in rows { table.append(row) }
        Console.output(table.text + table.summary(in: duration))
        var isGood = true
        for (row, image) in zip(rows, images) {
            guard case .failure(let error) = row.result else { continue }
            Console.problem("\(program): \(row.name): \(image.withoutPassword("\(error)"))")
            isGood = false
        }
        return isGood
    }

    private func writeSheet(_ pictures: [DecodedImage?]) -> Bool {
        let shown = Array(pictures.prefix(Self.sheetLimit))
        guard shown.contains(where: { $0 != nil }), let sheet = ContactSheet(pictures: shown).draw() else {
            return true
        }
        do {
            let path = try write(sheet, named: "contact-sheet.png")
            let part = shown.count < pictures.count ? " (the first \(shown.count) of \(pictures.count))" : ""
            Console.output("contact sheet: \(path)\(part)\n")
            return true
        } catch {
            Console.problem("\(program): \(error)")
            return false
        }
    }

    @discardableResult
    private func write(_ image: DecodedImage, named name: String) throws -> String {
        try OutputFolder(url: outputDirectory).write(PNGEncoder().encode(image), named: name, sparing: inputs)
    }

    /// A name that no other image of the job has, and that is safe whatever the URL holds.
    private static func fileName(_ index: Int, _ name: String) -> String { "\(index + 1)-\(SafeName(name).text).png" }
}
